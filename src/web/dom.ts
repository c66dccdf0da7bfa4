/** Making elements. Everything from outside becomes text or a checked link, never HTML. */

type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | boolean | null>>;

/** `true` sets an attribute without a value; `false` and `null` leave it out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function setAttribute(element: Element, name: string, value: string | boolean | null): void {
  if (value === null || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : value);
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Node[]
): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  // trust: elements made in the namespace of SVG are of that kind
  return element as SVGElement;
}

/** Writes only what differs: an equal text costs no layout. */
export function setText(node: Node, text: string): boolean {
  if (node.textContent === text) return false;
  node.textContent = text;
  return true;
}

/** null unless it is a link to the web: what users write may be `javascript:` or worse. */
export function webLink(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
}
