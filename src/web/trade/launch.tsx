/** Launching a token: the form, a last look, and then its page as soon as a block has it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../client/index.ts';
import { leavingWallet, type Review } from '../../client/trade/review.ts';
import type { LaunchedToken, LaunchRequest, PreparedTx } from '../../client/trade/tradingClient.ts';
import type { LaunchAnswer } from '../../client/types.ts';
import {
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TICKER_CHARACTERS,
} from '../../engine/runtime/limits.ts';
import { SubmitButton, useOnce } from '../components/button.tsx';
import { Facts, navigationNow } from '../components/dialog.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { AmountField, ChoiceBar, Field, TextField } from '../components/field.tsx';
import type { PageContext } from '../context.ts';
import { localized, percent } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { WalletPrompt } from '../wallet/prompt.tsx';
import { sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { initialOf, type LaunchText, launchProblem, SOCIALS, TEXTS } from './launchChecks.ts';
import { type Logo, LogoField } from './logoField.tsx';
import { shownOf } from './quoteTerms.ts';
import { askToSign } from './review.tsx';
import { WalletPreview } from './walletPreview.tsx';

type Texts = Readonly<Record<LaunchText, string>>;
type Problems = Readonly<Partial<Record<LaunchText | 'logo', string | null>>>;

const NO_TEXTS: Texts = {
  name: '',
  ticker: '',
  description: '',
  twitter: '',
  telegram: '',
  discord: '',
  website: '',
  initialBuy: '',
};
const ASSET_TYPES = ['Meme', 'AI'] as const;
const LAUNCH_TYPES = ['DEFAULT', 'HYPED'] as const;
/** Where the server finds fault, by the path of its details. */
const PATH = /(?:^|\.)(\w+)$/;

interface Draft {
  readonly texts: Texts;
  readonly logo: Logo | null;
  readonly assetType: (typeof ASSET_TYPES)[number];
  readonly launchType: (typeof LAUNCH_TYPES)[number];
}

const NO_DRAFT: Draft = { texts: NO_TEXTS, logo: null, assetType: 'Meme', launchType: 'DEFAULT' };

export function Launch() {
  const { network } = usePage();
  const hasChain = network.value?.name !== 'none';
  return (
    <>
      <h1>{t.launch.title}</h1>
      <p class="dim launch-words">{hasChain ? t.launch.words : t.launch.noChain}</p>
      {hasChain && (
        <section class="panel">
          <LaunchForm />
        </section>
      )}
    </>
  );
}

function LaunchForm() {
  const context = usePage();
  const session = sessionOf(context);
  const draft = useSignal<Draft>(NO_DRAFT);
  const problems = useSignal<Problems>({});
  const failure = useSignal<unknown>(null);
  const state = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const ended = useRef(new AbortController());
  const { isBusy, once } = useOnce();
  useEffect(() => () => ended.current.abort(), []);
  const go = async () => {
    failure.value = null;
    const found = problemsOf(draft.value);
    problems.value = found;
    const first = ['logo' as const, ...TEXTS].find((name) => (found[name] ?? null) !== null);
    const { logo } = draft.value;
    if (first !== undefined || logo === null) {
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
      return;
    }
    const say = (words: string) => {
      state.value = words;
    };
    try {
      await launch(context, draft.value, requestOf(draft.value, logo), say, ended.current.signal);
    } catch (error) {
      if (error instanceof ApiError) problems.value = problemsIn(error);
      failure.value = error;
    }
  };
  return (
    <form
      class="inside launch-form"
      noValidate
      aria-label={t.launch.form}
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        once(go);
      }}
    >
      <LaunchFields draft={draft} problems={problems} />
      {failure.value !== null && <ErrorBox error={failure.value} />}
      <WalletPrompt />
      {session.wallet.value !== null && (
        <div>
          <SubmitButton isBusy={isBusy}>{t.launch.review}</SubmitButton>
        </div>
      )}
      <p class="hint" role="status">
        {state.value}
      </p>
    </form>
  );
}

interface LaunchFieldsProps {
  readonly draft: { value: Draft };
  readonly problems: { value: Problems };
}

function LaunchFields({ draft, problems }: LaunchFieldsProps) {
  const { texts, logo, assetType, launchType } = draft.value;
  const change = (part: Partial<Draft>) => {
    draft.value = { ...draft.value, ...part };
  };
  const fault = (name: keyof Problems, problem: string | null) => {
    problems.value = { ...problems.value, [name]: problem };
  };
  /**
   * While the user types, only corrected errors disappear; new errors appear when the user leaves
   * the field.
   */
  const bind = (name: LaunchText) => ({
    value: texts[name],
    problem: problems.value[name] ?? null,
    input: (text: string) => {
      change({ texts: { ...texts, [name]: text } });
      if (launchProblem(name, text) === null) fault(name, null);
    },
    leave: () => fault(name, launchProblem(name, draft.value.texts[name])),
  });
  const { names, hints } = t.launch;
  return (
    <div class="launch-fields">
      <LogoField
        logo={logo}
        problem={problems.value.logo ?? null}
        choose={(read) => {
          const isLogo = typeof read !== 'string';
          change({ logo: isLogo ? read : null });
          fault('logo', isLogo ? null : read);
        }}
      />
      <TextFields bind={bind} />
      <div class="launch-kinds">
        <ChoiceBar
          legend={t.launch.kind}
          options={ASSET_TYPES.map((value) => ({ value, label: t.launch.assetTypes[value] }))}
          value={assetType}
          choose={(chosen) => change({ assetType: chosen })}
        />
        <ChoiceBar
          legend={t.launch.launch}
          options={LAUNCH_TYPES.map((value) => ({ value, label: t.launch.types[value] }))}
          value={launchType}
          choose={(chosen) => change({ launchType: chosen })}
        />
      </div>
      <p class="hint">{t.launch.kindsMean}</p>
      <WalletPreview {...texts} logo={logo} />
      <AmountField
        label={names.initialBuy}
        unit="ADA"
        hint={hints.initialBuy}
        {...bind('initialBuy')}
      />
    </div>
  );
}

interface TextFieldsProps {
  readonly bind: (name: LaunchText) => {
    readonly value: string;
    readonly problem: string | null;
    readonly input: (text: string) => void;
    readonly leave: () => void;
  };
}

function TextFields({ bind }: TextFieldsProps) {
  const { names, hints } = t.launch;
  const { value, problem, input, leave } = bind('description');
  return (
    <>
      <div class="launch-names">
        <TextField
          label={names.name}
          hint={hints.name({ most: MAX_NAME_CHARACTERS })}
          attributes={{ maxLength: 64, required: true }}
          {...bind('name')}
        />
        <TextField
          label={names.ticker}
          hint={hints.ticker({ most: MAX_TICKER_CHARACTERS })}
          attributes={{ maxLength: 12, required: true }}
          {...bind('ticker')}
        />
      </div>
      <Field
        label={names.description}
        hint={hints.description({ most: MAX_DESCRIPTION_CHARACTERS })}
        problem={problem}
      >
        {(bound) => (
          <textarea
            {...bound}
            rows={3}
            value={value}
            onInput={({ currentTarget }) => input(currentTarget.value)}
            onChange={leave}
          />
        )}
      </Field>
      <div class="launch-links">
        {SOCIALS.map((name) => (
          <TextField
            key={name}
            label={names[name]}
            hint={hints.link}
            attributes={{ inputMode: 'url' }}
            {...bind(name)}
          />
        ))}
      </div>
    </>
  );
}

function problemsOf({ texts, logo }: Draft): Problems {
  const found = TEXTS.map((name) => [name, launchProblem(name, texts[name])] as const);
  return { ...Object.fromEntries(found), logo: logo === null ? t.logo.none : null };
}

/** The server's errors, at the fields that it names. */
function problemsIn({ details }: ApiError): Problems {
  const found = details.flatMap(({ path, message }) => {
    const name = TEXTS.find((each) => each === PATH.exec(path)?.[1]);
    return name === undefined ? [] : [[name, message] as const];
  });
  return Object.fromEntries(found);
}

function requestOf({ texts, assetType, launchType }: Draft, logo: Logo): LaunchRequest {
  const given = SOCIALS.filter((name) => texts[name] !== '');
  return {
    image: new Blob([logo.file], { type: logo.mediaType }),
    name: texts.name.trim(),
    ticker: texts.ticker,
    description: texts.description,
    ...Object.fromEntries(given.map((name) => [name, texts[name]])),
    assetType,
    launchType,
    initialLovelace: initialOf(texts.initialBuy),
  };
}

async function launch(
  context: PageContext,
  draft: Draft,
  request: LaunchRequest,
  say: (words: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const session = sessionOf(context);
  const navigation = navigationNow();
  say(t.launch.building);
  let prepared: PreparedTx<LaunchAnswer, LaunchedToken>;
  try {
    prepared = await session.trading().prepareLaunch(request);
  } finally {
    say('');
  }
  const { assetId } = prepared.built;
  const token = { asset: assetId, ticker: draft.texts.ticker };
  const sent = await askToSign(context, {
    title: t.launch.lookAt({ name: request.name }),
    above: (
      <LastLook draft={draft} prepared={prepared} supply={context.network.peek()?.supply ?? null} />
    ),
    ...{ prepared, token, navigation },
    goes: t.sign.goesTo,
    words: t.launch.signWords,
    confirm: t.launch.sign,
    sent: ({ txHash }) => void session.follow(txHash),
  });
  if (!sent) return;
  say(t.launch.sent);
  if (await appeared(context, assetId, signal)) context.go({ at: 'token', asset: assetId });
}

interface LastLookProps {
  readonly draft: Draft;
  readonly prepared: PreparedTx<LaunchAnswer>;
  /** Supply of the token; null: the server has not said. */
  readonly supply: bigint | null;
}

function LastLook({ draft, prepared: { built, review }, supply }: LastLookProps) {
  const { name, ticker, initialBuy } = draft.texts;
  const initial = initialOf(initialBuy);
  const token = { asset: built.assetId, ticker };
  // From the bytes, which were compared with the curve's result.
  const gets = shownOf(review.change.assets.get(built.assetId) ?? 0n, built.assetId, token);
  const bought = review.change.assets.get(built.assetId) ?? 0n;
  const share = supply === null || bought === 0n ? [] : [shareRow(bought, supply)];
  const costs = costRows(review, built.assetId);
  return (
    <>
      <Facts
        rows={[
          ...costs.slice(0, 1),
          [t.launch.names.name, name.trim()],
          [t.launch.names.ticker, ticker],
          [t.launch.firstBuy, initial === 0n ? t.launch.none : shownAda(initial)],
          [t.launch.youGet, gets],
          ...share,
          ...costs.slice(1),
        ]}
      />
      <p class="small dim">
        {t.launch.asset} <code>{built.assetId}</code>
      </p>
    </>
  );
}

type CostRow = readonly [name: string, value: string];

function shareRow(bought: bigint, supply: bigint): CostRow {
  return [t.launch.share, `${localized(percent(bought, supply))} %`];
}

/** The total first, then what each output of the transaction takes: from its bytes. */
function costRows(review: Review, asset: string): readonly CostRow[] {
  const { payments, feeLovelace } = review;
  const isPool = ({ value }: Review['payments'][number]) => value.assets.has(asset);
  const sum = (of: Review['payments']) =>
    of.reduce((coins, { value }) => coins + value.lovelace, 0n);
  const others = payments.filter((payment) => !isPool(payment));
  return [
    [t.launch.total, shownAda(leavingWallet(review).lovelace)],
    [t.launch.toPool, shownAda(sum(payments.filter(isPool)))],
    ...others.map(({ value }): CostRow => [t.launch.toOthers, shownAda(value.lovelace)]),
    [t.trade.networkFee, shownAda(feeLovelace)],
  ];
}

/** The pool comes with the block that has the launch; false where the view was left before. */
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
