/**
 * Declares a route whose handler is typed by the schemas beside it: nothing is narrowed by hand,
 * and a handler cannot read a field that its schema does not have.
 */
import type { Static, TObject, TSchema, TUnknown } from 'typebox';
import { assert } from '../../engine/runtime/assert.ts';
import type { Failure } from '../../engine/runtime/errors.ts';
import {
  type Answer,
  type CallerLimits,
  type FormFile,
  type FormShape,
  type Idempotency,
  type Route,
  type RouteRequest,
  SlicedAnswer,
} from './port.ts';

/** A request that was checked against the schemas of its route. */
interface CheckedRequest<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Fields extends TSchema,
> {
  readonly params: Static<Params>;
  readonly query: InputOf<Query>;
  /** The fields of the form, where the route takes one. */
  readonly body: BodyOf<Body> & Static<Fields>;
  readonly files?: readonly FormFile[];
  readonly limits?: CallerLimits;
  readonly apiKey?: string;
  readonly call?: RouteRequest['call'];
}

/** The type of checked input: as the schema says, and fields with a `default` are always there. */
export type InputOf<Schema extends TSchema> = Static<Schema> & DefaultsOf<Schema>;

type DefaultsOf<Schema> = Schema extends { readonly properties: infer Fields }
  ? {
      readonly [Name in keyof Fields as Fields[Name] extends { readonly default: unknown }
        ? Name
        : never]: Fields[Name] extends TSchema ? Static<Fields[Name]> : never;
    }
  : unknown;

/** A body without any required field may be left out altogether. */
type BodyOf<Body extends TSchema> =
  Record<never, never> extends Static<Body> ? Static<Body> | undefined : InputOf<Body>;

interface TypedRoute<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Fields extends TSchema,
> extends Omit<
    Route,
    'params' | 'query' | 'body' | 'form' | 'handle' | 'cost' | 'idempotency' | 'etag' | 'gzip'
  > {
  /** False where it is left out, as `gzip`. */
  readonly etag?: boolean;
  readonly gzip?: boolean;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly form?: FormShape & { readonly fields: Fields };
  readonly cost?: (request: CheckedRequest<Params, Query, Body, Fields>) => number;
  readonly idempotency?: Omit<Idempotency, 'wallet'> & {
    readonly wallet: (request: CheckedRequest<Params, Query, Body, Fields>) => string;
  };
  readonly handle: (
    request: CheckedRequest<Params, Query, Body, Fields>,
  ) => ReturnType<Route['handle']>;
}

export function route<
  const Params extends TObject = TObject<Record<never, never>>,
  const Query extends TObject = TObject<Record<never, never>>,
  const Body extends TSchema = TUnknown,
  const Fields extends TSchema = TUnknown,
>(typed: TypedRoute<Params, Query, Body, Fields>): Route {
  // trust: the gateway checks a request against the schemas of its route before it is handled
  const checked = (request: RouteRequest) => request as CheckedRequest<Params, Query, Body, Fields>;
  const idempotent = ({ wallet, ...rest }: NonNullable<typeof typed.idempotency>) => {
    return { ...rest, wallet: (request: RouteRequest) => wallet(checked(request)) };
  };
  const { cost, idempotency, handle, ...facts } = typed;
  return {
    etag: false,
    gzip: false,
    ...facts,
    ...(cost === undefined ? {} : { cost: (request) => cost(checked(request)) }),
    ...(idempotency === undefined ? {} : { idempotency: idempotent(idempotency) }),
    handle: (request) => handle(checked(request)),
  };
}

/** For callers that call a handler once: no route for them takes more than one turn. */
export function inOneTurn(
  handled: ReturnType<Route['handle']>,
): Answer | Failure | Promise<Answer | Failure> {
  assert(!(handled instanceof SlicedAnswer), 'the handler answers in one turn');
  return handled;
}

export function jsonAnswer(value: object | null): Answer {
  return { body: JSON.stringify(value) };
}
