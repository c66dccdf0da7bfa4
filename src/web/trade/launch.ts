/** Launching a token: the form, a last look, and then its page as soon as a block has it. */
import { ApiError } from '../../client/index.ts';
import type { LaunchedToken, LaunchRequest, PreparedTx } from '../../client/trade/tradingClient.ts';
import type { LaunchAnswer } from '../../client/types.ts';
import { unreadableName } from '../../engine/market/tokenName.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox, errorText } from '../errorView.ts';
import { onChange } from '../signal.ts';
import { mountPrompt } from '../wallet/prompt.ts';
import { sessionOf } from '../wallet/session.ts';
import { ADA_DECIMALS, readAmount, shownAda } from './amount.ts';
import { button, runOnce } from './button.ts';
import { whatYouSign } from './confirmOrder.ts';
import { ask, facts, navigationNow } from './dialog.ts';
import { amountField, choiceBar, type Field, fieldOf, textField } from './field.ts';
import { logoField } from './logoField.ts';
import { shownOf } from './quoteTerms.ts';

export function mountLaunch(container: HTMLElement, context: PageContext): Unmount {
  if (context.network.value?.name === 'none') {
    const none = 'This server has no chain: there is nothing to launch on.';
    container.append(el('h1', {}, 'Launch a token'), el('p', { class: 'dim' }, none));
    return () => {};
  }
  const session = sessionOf(context);
  const fields = new LaunchForm();
  const failure = el('div');
  const state = el('p', { class: 'hint', role: 'status' });
  const prompt = el('div', { class: 'trade-prompt' });
  const go = button('Review the launch', () => {}, { kind: 'primary', type: 'submit' });
  const form = el(
    'form',
    { class: 'inside launch-form', novalidate: true, 'aria-label': 'Launch' },
    fields.element,
    failure,
    prompt,
    el('div', {}, go),
    state,
  );
  const ended = new AbortController();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void runOnce(go, async () => {
      failure.replaceChildren();
      try {
        await launch(context, fields, (words) => void setText(state, words), ended.signal);
      } catch (error) {
        if (error instanceof ApiError) fields.showDetails(error.details);
        failure.replaceChildren(errorBox(error));
      }
    });
  });
  const words =
    'A curve holds its whole supply and sets the price: each buy raises it, each sell ' +
    'lowers it. At its cap it graduates to an AMM pool.';
  container.append(
    el('h1', {}, 'Launch a token'),
    el('p', { class: 'dim launch-words' }, words),
    el('section', { class: 'panel' }, form),
  );
  const show = () => {
    go.hidden = session.wallet.value === null;
  };
  const stops = [mountPrompt(prompt, context), onChange(session.wallet, show)];
  show();
  return () => {
    ended.abort();
    for (const stop of stops) stop();
    fields.close();
  };
}

async function launch(
  context: PageContext,
  fields: LaunchForm,
  say: (words: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const session = sessionOf(context);
  const request = fields.read();
  if (request === null) return;
  const navigation = navigationNow();
  say('The transaction is being built.');
  let prepared: PreparedTx<LaunchAnswer, LaunchedToken>;
  try {
    prepared = await session.trading().prepareLaunch(request);
  } finally {
    say('');
  }
  const { assetId } = prepared.built;
  const sent = await ask({
    title: `Launch ${request.name}`,
    content: look(fields, prepared),
    confirm: 'Sign and launch',
    navigation,
    async run() {
      const { txHash } = await prepared.submit();
      void session.follow(txHash);
      return true;
    },
    late: (error) => context.notify('bad', errorText(error)),
  });
  if (!sent) return;
  say('The launch was sent. Its page opens when a block has it.');
  if (await appeared(context, assetId, signal)) context.go({ at: 'token', asset: assetId });
}

function look(fields: LaunchForm, { built, review }: PreparedTx<LaunchAnswer>): HTMLElement[] {
  const { name, ticker, initial } = fields.shown;
  const token = { asset: built.assetId, ticker };
  const rows: [string, string][] = [
    ['Name', name],
    ['Ticker', ticker],
    ['First buy', initial === 0n ? 'none' : shownAda(initial)],
    ['You get', shownOf(BigInt(built.userOutputTokens ?? 0), built.assetId, token)],
    ['Network fee', shownAda(review.feeLovelace)],
  ];
  const words = 'The pool with what you do not buy, the fee of a launch, and its description.';
  return [
    facts(rows),
    el('p', { class: 'small dim' }, 'Asset ', el('code', {}, built.assetId)),
    whatYouSign(review, token, ['goes to', words]),
  ];
}

/** The pool comes with the block that has the launch; false where the place was left before. */
async function appeared(
  { client }: PageContext,
  asset: string,
  signal: AbortSignal,
): Promise<boolean> {
  const mirror = client.pool(asset);
  const leave = () => mirror.close();
  signal.addEventListener('abort', leave);
  try {
    for await (const pool of mirror) {
      if (pool !== null) return true;
    }
    return false;
  } finally {
    signal.removeEventListener('abort', leave);
    mirror.close();
  }
}

type TextControl = HTMLInputElement | HTMLTextAreaElement;

const ASSET_TYPES = [
  { value: 'Meme', label: 'Meme' },
  { value: 'AI', label: 'AI' },
] as const;
const LAUNCH_TYPES = [
  { value: 'DEFAULT', label: 'Default' },
  { value: 'HYPED', label: 'Hyped' },
] as const;
const LINK_LABELS = {
  twitter: 'X (Twitter)',
  telegram: 'Telegram',
  discord: 'Discord',
  website: 'Website',
} as const;
/** Where the server finds fault, by the path of its details. */
const PATH = /(?:^|\.)(name|ticker|description|twitter|telegram|discord|website|initialDeposit)$/;

/** The fields of a launch, each with its own check, and the request that they make up. */
class LaunchForm {
  readonly element: HTMLElement;
  readonly #logo = logoField();
  readonly #name = textField(
    { label: 'Name', hint: 'Up to 16 characters. It stays for good.' },
    { maxlength: '64', required: true },
  );
  readonly #ticker = textField(
    { label: 'Ticker', hint: '1 to 6 letters and digits.' },
    { maxlength: '12', required: true },
  );
  readonly #description = fieldOf(el('textarea', { rows: '3' }), {
    label: 'Description (optional)',
    hint: `At most ${MAX_DESCRIPTION_CHARACTERS} characters.`,
  });
  readonly #links = SOCIALS.map(
    (name) =>
      [
        name,
        textField(
          { label: `${LINK_LABELS[name]} (optional)`, hint: 'Full link, starting with https://' },
          { inputmode: 'url' },
        ),
      ] as const,
  );
  readonly #initial = amountField({
    label: 'First buy (optional)',
    unit: 'ADA',
    hint: 'You buy the first tokens in the launch itself.',
  });
  readonly #assetType = choiceBar('Kind', ASSET_TYPES, 'Meme', () => {});
  readonly #launchType = choiceBar('Launch', LAUNCH_TYPES, 'DEFAULT', () => {});
  readonly #checks: readonly (readonly [string, Field<TextControl>, (text: string) => Problem])[];

  constructor() {
    this.#checks = [
      ['name', this.#name, nameProblem],
      ['ticker', this.#ticker, tickerProblem],
      ['description', this.#description, descriptionProblem],
      ...this.#links.map(([name, field]) => [name, field, linkProblem] as const),
      ['initialDeposit', this.#initial, initialProblem],
    ];
    for (const [, field, problemOf] of this.#checks) {
      const { input } = field;
      // While typing only what was wrong is taken back; the rest is said when the field is left.
      input.addEventListener('change', () => field.problem(problemOf(input.value)));
      input.addEventListener('input', () => {
        if (problemOf(input.value) === null) field.problem(null);
      });
    }
    const links = el('div', { class: 'launch-links' }, ...this.#links.map(([, { root }]) => root));
    const names = el('div', { class: 'launch-names' }, this.#name.root, this.#ticker.root);
    const kinds = el('div', { class: 'launch-kinds' }, this.#assetType.root, this.#launchType.root);
    this.element = el(
      'div',
      { class: 'launch-fields' },
      this.#logo.root,
      names,
      this.#description.root,
      links,
      kinds,
      this.#initial.root,
    );
  }

  get shown(): { readonly name: string; readonly ticker: string; readonly initial: bigint } {
    return {
      name: this.#name.input.value.trim(),
      ticker: this.#ticker.input.value,
      initial: initialOf(this.#initial.input.value),
    };
  }

  /** null where something is wrong: it is said beside its field, the first of which is focused. */
  read(): LaunchRequest | null {
    const hasLogo = this.#logo.check();
    const { logo } = this.#logo;
    let first: HTMLElement | null = hasLogo ? null : this.#logo.root.querySelector('input');
    for (const [, field, problemOf] of this.#checks) {
      const fault = problemOf(field.input.value);
      field.problem(fault);
      if (fault !== null) first ??= field.input;
    }
    first?.focus();
    if (first !== null || logo === null) return null;
    const links = Object.fromEntries(
      this.#links.flatMap(([name, { input }]) => (input.value === '' ? [] : [[name, input.value]])),
    );
    return {
      // Its type as the bytes say it, whatever the file was called.
      image: new Blob([logo.file], { type: logo.mediaType }),
      name: this.#name.input.value.trim(),
      ticker: this.#ticker.input.value,
      description: this.#description.input.value,
      ...links,
      assetType: this.#assetType.value,
      launchType: this.#launchType.value,
      initialLovelace: this.shown.initial,
    };
  }

  /** What the server found wrong, said at the fields it names. */
  showDetails(details: readonly { readonly path: string; readonly message: string }[]): void {
    for (const { path, message } of details) {
      const [, name] = PATH.exec(path) ?? [];
      const found = this.#checks.find(([each]) => each === name);
      found?.[1].problem(message);
    }
  }

  close(): void {
    this.#logo.close();
  }
}

function initialOf(text: string): bigint {
  const amount = readAmount(text, ADA_DECIMALS);
  return typeof amount === 'bigint' ? amount : 0n;
}

/** The server knows the least and the most; here only what is no amount is refused. */
function initialProblem(text: string): Problem {
  if (/^[\s0.]*$/.test(text)) return null;
  const amount = readAmount(text, ADA_DECIMALS);
  return typeof amount === 'string' ? amount : null;
}

/**
 * What a launch may say, checked while it is typed. The server checks the same again and has the
 * last word; here it is said beside the field, before anything is uploaded. Source: api.md 3.
 */
const MAX_NAME_CHARACTERS = 16;
const MAX_NAME_BYTES = 32;
const MAX_DESCRIPTION_CHARACTERS = 500;
const MAX_URL_BYTES = 200;
const CONTROL = /\p{Cc}/u;
const TICKER = /^[A-Za-z0-9]{1,6}$/;

const SOCIALS = ['twitter', 'telegram', 'discord', 'website'] as const;

type Problem = string | null;

function nameProblem(text: string): Problem {
  const name = text.trim();
  const characters = [...name].length;
  if (characters === 0) return 'Enter a name.';
  if (characters > MAX_NAME_CHARACTERS) {
    return `A name has at most ${MAX_NAME_CHARACTERS} characters; this has ${characters}.`;
  }
  if (!name.isWellFormed() || bytesOf(name) > MAX_NAME_BYTES) {
    return `A name has at most ${MAX_NAME_BYTES} bytes of UTF-8; this has ${bytesOf(name)}.`;
  }
  return unreadableName(name);
}

function tickerProblem(text: string): Problem {
  if (text === '') return 'Enter a ticker.';
  return TICKER.test(text) ? null : 'A ticker has 1 to 6 letters and digits, A to Z and 0 to 9.';
}

function descriptionProblem(text: string): Problem {
  const characters = [...text].length;
  if (characters > MAX_DESCRIPTION_CHARACTERS) {
    return `At most ${MAX_DESCRIPTION_CHARACTERS} characters; this has ${characters}.`;
  }
  return text.isWellFormed() ? null : 'This holds half a character.';
}

/** Empty is fine. */
function linkProblem(text: string): Problem {
  if (text === '') return null;
  if (bytesOf(text) > MAX_URL_BYTES) return `A link has at most ${MAX_URL_BYTES} bytes.`;
  const url = text.isWellFormed() && !CONTROL.test(text) ? URL.parse(text) : null;
  const isWeb = url !== null && /^https?:$/.test(url.protocol);
  return isWeb ? null : 'Enter the full link, starting with https://.';
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
