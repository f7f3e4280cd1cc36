// SPDX-License-Identifier: Apache-2.0
// Runs the script of a page of `explain --html` in a minimal document, and steps through its views:
//   node page_in_node.js FILE
'use strict';
const fs = require('fs');
const text = fs.readFileSync(process.argv[2], 'utf8');
function block(begin, end) {
  const first = text.indexOf(begin) + begin.length;
  return text.slice(first, text.indexOf(end, first));
}
const json = block('id="data">', '</script>');
const script = block('</script>\n<script>', '</script>');

class Element {
  constructor(tag) {
    Object.assign(this, {tagName: tag.toUpperCase(), children: [], attributes: {}, listeners: {}, hidden: false});
    this.classes = new Set();
    this.classList = {add: c => this.classes.add(c), toggle: (c, on) => on ? this.classes.add(c) : this.classes.delete(c)};
  }
  setAttribute(name, value) { this.attributes[name] = String(value); if (name === 'value') this.value = value; }
  getAttribute(name) { return this.attributes[name]; }
  hasAttribute(name) { return name in this.attributes; }
  addEventListener(name, f) { (this.listeners[name] = this.listeners[name] || []).push(f); }
  append(...more) { this.children.push(...more); if (this.tagName === 'SELECT') this.choose(); }
  choose() { this.selectedIndex = Math.max(0, this.children.findIndex(o => o.hasAttribute('selected'))); }
  replaceChildren(...more) { this.children = more; }
  focus() { this.fire('focus'); }
  fire(name, event = {}) { (this.listeners[name] || []).forEach(f => f({preventDefault() {}, stopPropagation() {}, target: this, ...event})); }
  get textContent() { return this.children.map(c => typeof c === 'string' ? c : c.textContent).join(''); }
  set textContent(value) { this.children = [String(value)]; }
  all() { return [this, ...this.children.flatMap(c => c instanceof Element ? c.all() : [])]; }
}
const body = new Element('body');
for (const id of ['title', 'lead', 'tabs', 'views', 'data']) {
  const made = new Element('div');
  made.setAttribute('id', id);
  body.append(made);
}
const by_id = id => body.all().find(e => e.getAttribute('id') === id);
by_id('data').textContent = json;
const listeners = [];
const document = {
  title: '', getElementById: by_id, createElement: tag => new Element(tag), createElementNS: (_, tag) => new Element(tag),
  addEventListener: (_, f) => listeners.push(f)
};
new Function('document', script)(document);
const fail = what => { console.error(`${process.argv[2]}: ${what}`); process.exit(1); };
const data = JSON.parse(json);
if (document.title !== data.title) fail(`the title is ${document.title}`);
let shown = 0;
data.views.forEach((view, k) => {
  const box = by_id(`view-${k}`);
  const panel = () => box.all().find(e => e.attributes.class === 'panel').textContent;
  if (data.views.length > 1) by_id(`tab-${k}`).fire('click');
  for (const key of ['ArrowLeft', 'ArrowDown', 'ArrowRight', 'ArrowUp'])
    listeners.forEach(f => f({key, target: body, preventDefault() {}}));
  const things = box.all().filter(e => e.hasAttribute('data-key'));
  if (things.length === 0) fail(`view ${k} has nothing to point at`);
  for (const thing of things) {
    thing.fire('mouseenter');
    if (!/\d\.\d\d|node/.test(panel())) fail(`${thing.getAttribute('data-key')} shows ${panel()}`);
    thing.fire('mouseleave');
    ++shown;
  }
});
console.log(`${process.argv[2]}: ${shown} things of ${data.views.length} views shown`);
