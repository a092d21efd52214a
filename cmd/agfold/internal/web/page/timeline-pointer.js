// timeline-pointer.js turns what mouse and fingers do on the canvas into panning, zooming, hovering and clicks.

const STILL = 4; // pixels that a click may move

// pointers has the handler told: hover(x, y), leave(), click(x, y), frameSpan(x, y), pan(dx, dy), zoom(direction, place, factor).
export function pointers(canvas, handler) {
  const down = new Map(); // pointer -> where it was last
  let moved = 0;
  const at = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const place = x => handler.view.from + (x - handler.view.gutter) * (handler.view.to - handler.view.from) / (handler.width - handler.view.gutter);

  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) handler.pan(-(event.deltaX || event.deltaY) * unit, 0);
    else handler.zoom(event.deltaY < 0 ? 1 : -1, place(at(event)[0]), Math.min(2, 1 + Math.abs(event.deltaY * unit) / 300));
    handler.hover(...at(event));
  }, {passive: false});

  canvas.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) moved = 0;
    down.set(event.pointerId, at(event));
  });

  canvas.addEventListener('pointermove', event => {
    const [x, y] = at(event), was = down.get(event.pointerId);
    if (!was) return handler.hover(x, y);
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
    down.set(event.pointerId, [x, y]);
    moved += Math.abs(x - was[0]) + Math.abs(y - was[1]);
    if (others.length === 1) {
      const [other] = others, before = Math.abs(was[0] - other[0]), now = Math.abs(x - other[0]);
      if (before > 20 && now > 20) handler.zoom(now > before ? 1 : -1, place((x + other[0]) / 2), now > before ? now / before : before / now);
    } else if (others.length === 0 && moved > STILL) {
      handler.leave();
      handler.pan(x - was[0], y - was[1]);
    }
  });

  const up = event => {
    if (!down.delete(event.pointerId)) return;
    if (event.type === 'pointerup' && down.size === 0 && moved <= STILL) handler.click(...at(event));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', () => { if (down.size === 0) handler.leave(); });
  canvas.addEventListener('dblclick', event => handler.frameSpan(...at(event)));
}
