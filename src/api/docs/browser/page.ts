/**
 * The script of the reference page: copy buttons, a filter, requests to try and topics to listen
 * to. Sent to browsers with its types stripped, so it imports nothing. Checked by the tsconfig
 * beside it, which knows the DOM.
 */
const MOST_FRAMES = 30;
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

/** The recorded address and ids, replaced by those of the market behind this page. */
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
  for (const input of all('input, select', HTMLElement, form)) {
    if (!(input instanceof HTMLInputElement || input instanceof HTMLSelectElement)) continue;
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

/** Newest first, so that nothing moves under the eyes of who reads the top. */
function show(frames: HTMLPreElement, frame: Frame): void {
  const entry = document.createElement('div');
  entry.textContent = JSON.stringify(frame, null, 1);
  frames.prepend(entry);
  while (frames.childElementCount > MOST_FRAMES) frames.lastElementChild?.remove();
}

function filter(text: string): void {
  const wanted = text.trim().toLowerCase();
  for (const link of all('nav li li', HTMLLIElement)) {
    link.hidden = !(link.textContent ?? '').toLowerCase().includes(wanted);
  }
  for (const entry of all('details.entry', HTMLDetailsElement)) {
    const summary = entry.querySelector('summary')?.textContent ?? '';
    entry.hidden = !summary.toLowerCase().includes(wanted);
  }
}

/** What a link leads to is opened. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}

for (const each of all('[hidden]', HTMLElement)) each.hidden = false;
for (const button of all('button.copy', HTMLButtonElement)) {
  button.addEventListener('click', () => void copy(button));
}
for (const form of all('form.try', HTMLFormElement)) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}
for (const form of all('form.listen', HTMLFormElement)) listenWith(form);
const search = one(document, '#filter', HTMLInputElement);
search?.addEventListener('input', () => filter(search.value));
addEventListener('hashchange', openTarget);
renew(EXAMPLE_ORIGIN, location.origin);
openTarget();
void useThisMarket();
