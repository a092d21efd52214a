// form.js makes the fields of a form from a JSON schema, and reads them.
import {el, show} from './dom.js';

const DEEP = 4; // objects in objects
const MOST = 60; // fields

const APPROVE = {type: 'object', properties: {approved: {type: 'boolean'}}, required: ['approved']};

// fields returns {node, read}; read returns {value}, or {error} with what is wrong. What the schema says and this does not know
// is asked as JSON. If the schema is a question of yes or no, decide(yes) is its answer.
export function fields(schema, name) {
  if (!plain(schema)) schema = APPROVE;
  const counter = {left: MOST}, key = decision(schema);
  if (key !== null) return {node: el('div', {}), read: () => ({error: 'choose yes or no'}), decide: yes => Object.fromEntries([[key, yes]])};
  const field = one(schema, '', true, 0, counter);
  return {node: el('div', {class: 'fields', data: {form: show(name, 80)}}, field.node), read() {
    const wrong = field.check?.();
    return wrong ? {error: wrong} : {value: field.read()};
  }};
}

// decision returns the key of the only property of a schema, if that is yes or no; else null.
function decision(schema) {
  const keys = plain(schema.properties) ? Object.keys(schema.properties) : [];
  return keys.length === 1 && plain(schema.properties[keys[0]]) && schema.properties[keys[0]].type === 'boolean' ? keys[0] : null;
}

const plain = v => typeof v === 'object' && v !== null && !Array.isArray(v);
const text = v => typeof v === 'string' ? v : '';

function one(schema, name, required, depth, counter) {
  if (counter.left-- <= 0) return {node: el('p', {class: 'dim', text: 'more fields are left out'}), read: () => undefined};
  if (!plain(schema)) schema = {};
  const type = Array.isArray(schema.type) ? schema.type.find(t => t !== 'null') : schema.type ?? (plain(schema.properties) ? 'object' : undefined);
  const label = show(text(schema.title) || name, 120);
  const options = Array.isArray(schema.enum) ? schema.enum : Array.isArray(schema.oneOf) && schema.oneOf.every(o => plain(o) && 'const' in o) ? schema.oneOf.map(o => o.const) : null;
  const titles = !Array.isArray(schema.enum) && options ? schema.oneOf.map(o => o.title) : null;
  const about = text(schema.description) ? el('span', {class: 'about', dir: 'auto', text: show(schema.description, 500)}) : null;
  const labelled = (input, read, check) => ({node: el('label', {class: 'field'}, el('span', {class: 'label', dir: 'auto', text: label + (required && label ? ' *' : '')}), input, about), read, check});
  const missing = () => `${label || 'The answer'} is missing`;
  if ('const' in schema) return {node: el('span', {}), read: () => schema.const};
  if (options && options.length <= 500) {
    const select = el('select', {}, required ? null : el('option', {value: '', text: '—'}), options.map((o, i) => el('option', {value: i, text: show(text(titles?.[i]) || o, 120)})));
    const chosen = options.indexOf(schema.default);
    if (chosen >= 0) select.value = chosen;
    return labelled(select, () => select.value === '' ? undefined : options[Number(select.value)]);
  }
  if (type === 'boolean') {
    const box = el('input', {type: 'checkbox', checked: schema.default === true});
    return {node: el('label', {class: 'check'}, box, ' ', el('span', {dir: 'auto', text: label || 'Yes'}), about), read: () => box.checked};
  }
  if (type === 'number' || type === 'integer') {
    const input = el('input', {type: 'number', step: type === 'integer' ? 1 : 'any', min: number(schema.minimum), max: number(schema.maximum), value: number(schema.default)});
    return labelled(input, () => input.value === '' ? undefined : Number(input.value), () => required && input.value === '' ? missing() : input.validity.valid ? '' : `${label}: ${input.validationMessage}`);
  }
  if (type === 'string') {
    const long = schema.format === 'textarea' || schema.maxLength > 200;
    const kind = {date: 'date', time: 'time', email: 'email', uri: 'url', password: 'password'}[schema.format] ?? 'text';
    const input = long ? el('textarea', {rows: 3}) : el('input', {type: kind, value: text(schema.default)});
    if (long) input.value = text(schema.default);
    input.dir = 'auto';
    return labelled(input, () => input.value === '' && !required ? undefined : input.value, () => {
      const n = [...input.value].length;
      if (required && n === 0 && !(schema.minLength === 0)) return missing();
      if (n && n < schema.minLength || n > schema.maxLength) return `${label}: ${n} characters, want ${schema.minLength ?? 0} to ${schema.maxLength ?? 'any'}`;
      return input.validity.valid ? '' : `${label}: ${input.validationMessage}`;
    });
  }
  if (type === 'object' && plain(schema.properties) && depth < DEEP) return object(schema, label, about, required, depth, counter);
  return json(schema, type, labelled, missing, required);
}

function object(schema, label, about, required, depth, counter) {
  const must = new Set(Array.isArray(schema.required) ? schema.required : []);
  const parts = Object.entries(schema.properties).map(([key, sub]) => [key, one(sub, key, must.has(key), depth + 1, counter)]);
  return {
    node: el('div', {class: 'object', role: 'group', aria: {label: label || null}}, label ? el('span', {class: 'label', dir: 'auto', text: label}) : null, about, parts.map(([, part]) => part.node)),
    read() {
      const value = {};
      for (const [key, part] of parts) {
        const v = part.read();
        if (v !== undefined) Object.defineProperty(value, key, {value: v, enumerable: true, writable: true, configurable: true});
      }
      return value;
    },
    check: () => parts.map(([, part]) => part.check?.() ?? '').find(Boolean) ?? '',
  };
}

// json asks for any value.
function json(schema, type, labelled, missing, required) {
  const field = el('textarea', {rows: 3, spellcheck: 'false', placeholder: type === 'array' ? 'JSON, such as ["a", "b"]' : 'JSON'});
  if ('default' in schema) field.value = JSON.stringify(schema.default, null, 2);
  return labelled(field, () => field.value.trim() === '' ? undefined : JSON.parse(field.value), () => {
    if (field.value.trim() === '') return required ? missing() : '';
    try {
      JSON.parse(field.value);
      return '';
    } catch (error) {
      return error.message;
    }
  });
}

const number = v => typeof v === 'number' ? v : null;
