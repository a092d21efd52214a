// What htmx would do with this page: elements with hx-swap-oob go where that says, whether they come as events or answer a form.
function swap(html) {
  const template = document.createElement('template');
  template.innerHTML = html; // made by html/template, which escapes what the agent says
  for (const node of [...template.content.children]) {
    const [how, selector] = node.getAttribute('hx-swap-oob').split(':');
    const target = document.querySelector(selector ?? '#' + node.id);
    const focused = target?.contains(document.activeElement) && document.activeElement.id;
    node.removeAttribute('hx-swap-oob');
    if (how === 'true') target?.replaceWith(node);
    if (how === 'delete') target?.remove();
    if (how === 'innerHTML') target?.replaceChildren(...node.childNodes);
    if (how === 'afterbegin') target?.prepend(...node.childNodes);
    if (how === 'afterend') target?.after(...node.childNodes);
    if (focused) document.getElementById(focused)?.focus();
  }
}

new EventSource('events').onmessage = event => swap(event.data);

document.addEventListener('submit', async event => {
  event.preventDefault();
  const {action} = event.target, body = new URLSearchParams(new FormData(event.target));
  const answer = await fetch(action, {method: 'POST', body}).catch(() => null);
  if (answer?.ok) swap(await answer.text());
  else document.getElementById('error').textContent = answer ? await answer.text() : 'The server does not answer.';
});
