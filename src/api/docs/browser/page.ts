/**
 * The script of the reference page: copy buttons, languages of the samples, a search, requests to
 * try, which keep the entered values, and topics to listen to. Sent to browsers with its types
 * stripped, so it imports nothing. Checked by the tsconfig beside it, which knows the DOM.
 */
const MAX_FRAMES = 30;
const EXAMPLE_ORIGIN = 'http://localhost:8080';
const HISTORY_SECONDS = 3_600;

type Frame = { readonly event?: unknown };

function all<T extends Element>(
  selector: string,
  kind: new () => T,
  root: ParentNode = document,
): T[] {
  return Array.from(root.querySelectorAll(selector)).filter(
    (each): each is T => each instanceof kind,
  );
}

function one<T extends Element>(root: ParentNode, selector: string, kind: new () => T): T | null {
  return all(selector, kind, root)[0] ?? null;
}

/** Replaces the recorded address and ids by those behind this page. */
function renew(from: string | undefined, to: string): void {
  if (from === undefined || from === '' || from === to) return;
  for (const each of all('code.live', HTMLElement)) {
    each.textContent = each.textContent?.replaceAll(from, to) ?? '';
  }
  for (const each of all('textarea.live', HTMLTextAreaElement)) {
    each.value = each.value.replaceAll(from, to);
  }
  for (const each of all('form.try input', HTMLInputElement)) {
    if (each.value === from) each.value = to;
  }
}

function field(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null ? Reflect.get(inside, name) : undefined,
    value,
  );
}

async function read(path: string): Promise<unknown> {
  const response = await fetch(path);
  return response.ok ? response.json() : null;
}

/** Examples that answer something here; where nothing was launched yet they stay as recorded. */
async function useThisMarket(): Promise<void> {
  const { asset, pkh, from, to } = document.body.dataset;
  const now = field(await read('/v1/utility/server/time'), 'timestamp');
  if (typeof now === 'number') {
    const seconds = Math.floor(now / 1000);
    renew(from, String(seconds - HISTORY_SECONDS));
    renew(to, String(seconds + 60));
  }
  const newest = field(await read('/v1/pools-main-page/initial/state?filter=Latest'), '0');
  const [here, author] = [
    field(newest, 'info', 'asset'),
    field(newest, 'info', 'poolAuthor', 'pkh'),
  ];
  if (typeof here === 'string') renew(asset, here);
  if (typeof author === 'string' && author !== '') renew(pkh, author);
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const code = button.parentElement?.querySelector('code');
  if (code === null || code === undefined) return;
  const text = code.textContent ?? '';
  // Browsers keep the clipboard from pages that came over plain HTTP from another machine.
  const { clipboard }: { readonly clipboard?: Clipboard } = navigator;
  // Where it is refused the text is selected, so that the reader can copy it.
  const written = clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if ((await written) !== true) {
    getSelection()?.selectAllChildren(code);
    document.execCommand('copy');
  }
  button.textContent = 'Copied';
  button.addEventListener(
    'blur',
    () => {
      button.textContent = 'Copy';
    },
    { once: true },
  );
}

async function send(form: HTMLFormElement): Promise<void> {
  const output = one(form, 'output', HTMLOutputElement);
  if (output === null) return;
  let path = form.dataset.path ?? '';
  const query = new URLSearchParams();
  for (const input of inputsOf(form)) {
    const { name, value } = input;
    if (input.dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(name, value);
  }
  const url = query.size === 0 ? path : `${path}?${query}`;
  const head = document.createElement('p');
  const body = document.createElement('pre');
  body.tabIndex = 0;
  try {
    const response = await fetch(url);
    const position = response.headers.get('x-position');
    head.textContent = `${response.status} ${url}${position === null ? '' : ` at ${position}`}`;
    body.textContent = await shown(response);
  } catch (error) {
    head.textContent = `${url}: ${error}`;
  }
  output.replaceChildren(head, body);
}

async function shown(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('image/')) return `${(await response.blob()).size} bytes of ${type}`;
  const text = await response.text();
  return type.startsWith('application/json') ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

/** One socket for each box, closed when it is stopped. */
function listenWith(form: HTMLFormElement): void {
  const frame = one(form, 'textarea', HTMLTextAreaElement);
  const frames = one(form, '.frames', HTMLPreElement);
  const state = one(form, '.state', HTMLElement);
  const stop = one(form, 'button.stop', HTMLButtonElement);
  if (frame === null || frames === null || state === null || stop === null) return;
  let socket: WebSocket | null = null;
  const say = (text: string, isOpen: boolean) => {
    state.textContent = text;
    stop.disabled = !isOpen;
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    socket?.close();
    const mine = new WebSocket(`${location.origin.replace('http', 'ws')}/ws`);
    socket = mine;
    frames.textContent = '';
    say('connecting', true);
    mine.onopen = () => {
      say('open', true);
      mine.send(frame.value);
    };
    mine.onmessage = ({ data }) => {
      const text = String(data);
      const heard: Frame = JSON.parse(text);
      if (heard.event === 'Ping') mine.send('{"messageType":"pong","requestId":null}');
      else show(frames, heard);
    };
    mine.onclose = ({ code, reason }) => {
      if (socket === mine) say(`closed ${code} ${reason}`, false);
    };
  });
  stop.addEventListener('click', () => socket?.close());
}

/** Newest first, so that the text at the top does not move while it is read. */
function show(frames: HTMLPreElement, frame: Frame): void {
  const entry = document.createElement('div');
  entry.textContent = JSON.stringify(frame, null, 1);
  frames.prepend(entry);
  while (frames.childElementCount > MAX_FRAMES) frames.lastElementChild?.remove();
}

/** The text of each entry, as it is searched: all words must be in it. */
const texts = new Map(
  all('details.entry', HTMLDetailsElement).map((each) => [
    each,
    (each.textContent ?? '').toLowerCase(),
  ]),
);

function search(text: string): void {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const has = (inside: string) => words.every((word) => inside.includes(word));
  const found = new Set<string>();
  for (const [each, inside] of texts) {
    each.hidden = !has(inside);
    if (!each.hidden) found.add(each.id);
  }
  for (const link of all('nav li li', HTMLLIElement)) {
    const target = link.querySelector('a')?.hash.slice(1) ?? '';
    link.hidden = !found.has(target) && !has(chapterText(target));
  }
  const count = one(document, '#found', HTMLElement);
  if (count === null) return;
  const share = `${found.size} of ${texts.size} routes, topics and schemas`;
  count.textContent = words.length === 0 ? '' : share;
}

/** The text of a heading of the guide and of the elements below it; an entry has its own text. */
function chapterText(id: string): string {
  const heading = document.getElementById(id);
  if (heading === null || heading instanceof HTMLDetailsElement) return '';
  let text = heading.textContent ?? '';
  let next = heading.nextElementSibling;
  while (next !== null && next.tagName !== heading.tagName) {
    text += ` ${next.textContent ?? ''}`;
    next = next.nextElementSibling;
  }
  return text.toLowerCase();
}

const LANGUAGE = 'docs language';

/** Every sample in one language; samples that lack it show their first one. */
function showLanguage(wanted: string): void {
  for (const group of all('.samples', HTMLElement)) {
    const buttons = all('button[data-language]', HTMLButtonElement, group);
    const has = buttons.some((button) => button.dataset.language === wanted);
    const shown = has ? wanted : buttons[0]?.dataset.language;
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.language === shown));
    }
    for (const box of all('div[data-language]', HTMLElement, group)) {
      box.hidden = box.dataset.language !== shown;
    }
  }
}

/** Browsers may refuse to keep anything; undefined: nothing is kept. */
function kept(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    // Storage is forbidden, or another page left something else there.
    return undefined;
  }
}

function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // It lasts as long as the page.
  }
}

type Input = HTMLInputElement | HTMLSelectElement;

function inputsOf(form: HTMLFormElement): Input[] {
  return [...all('input', HTMLInputElement, form), ...all('select', HTMLSelectElement, form)];
}

/** Restores the values that were entered last. */
function restore(form: HTMLFormElement): void {
  const values = kept(`docs try ${form.dataset.name}`);
  for (const input of inputsOf(form)) {
    const value = field(values, input.name);
    if (typeof value === 'string') input.value = value;
  }
}

function keepInputs(form: HTMLFormElement): void {
  const values = inputsOf(form).map(({ name, value }) => [name, value]);
  keep(`docs try ${form.dataset.name}`, Object.fromEntries(values));
}

/** As the reader chose it on the page of the market, which keeps the word as it is. */
function takeTheme(): void {
  try {
    const theme = localStorage.getItem('upcurve.theme');
    if (theme !== null) document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is forbidden: it stays dark.
  }
}

/** Opens the element that a link leads to. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}

takeTheme();
for (const each of all('[hidden]', HTMLElement)) each.hidden = false;
for (const button of all('button.copy', HTMLButtonElement)) {
  button.addEventListener('click', () => void copy(button));
}
for (const button of all('.languages button', HTMLButtonElement)) {
  button.addEventListener('click', () => {
    const language = button.dataset.language ?? '';
    keep(LANGUAGE, language);
    showLanguage(language);
    button.scrollIntoView({ block: 'nearest' });
  });
}
showLanguage(String(kept(LANGUAGE)));
for (const form of all('form.try', HTMLFormElement)) {
  restore(form);
  form.addEventListener('input', () => keepInputs(form));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}
for (const form of all('form.listen', HTMLFormElement)) listenWith(form);
const input = one(document, '#filter', HTMLInputElement);
input?.addEventListener('input', () => search(input.value));
addEventListener('hashchange', openTarget);
renew(EXAMPLE_ORIGIN, location.origin);
openTarget();
void useThisMarket();
