/** Launching a token: the form, a last look, and then its page as soon as a block has it. */
import { ApiError } from '../../client/index.ts';
import type { LaunchedToken, PreparedTx } from '../../client/trade/tradingClient.ts';
import type { LaunchAnswer } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox, errorText } from '../errorView.ts';
import { mountPrompt } from '../wallet/prompt.ts';
import { sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { button, runOnce } from './button.ts';
import { whatYouSign } from './confirmOrder.ts';
import { ask, facts, navigationNow } from './dialog.ts';
import { LaunchForm } from './launchForm.ts';
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
  const stops = [mountPrompt(prompt, context), session.wallet.subscribe(show)];
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
