/**
 * Building, signing and submitting transactions; the contents of wallets; the devnet's own routes.
 */
import type * as api from '../types.ts';
import type { CallOptions } from './answer.ts';
import type { Http } from './http.ts';

/** A logo as it is uploaded: PNG, JPEG or GIF, at most 5 MiB; its type is the media type. */
export interface LaunchForm extends api.LaunchInfo {
  readonly image: Blob;
}

export function buildRoutes(http: Http) {
  return {
    quote(query: api.QuoteQuery, options?: CallOptions) {
      return http.call<api.QuoteAnswer>({ method: 'GET', path: '/quote', query, options });
    },

    /** Up to 50 quotes at one state of the pools; in the order asked. */
    quotes(orders: api.QuotesBody, options?: CallOptions) {
      const call = { path: '/quotes', body: orders, options };
      return http.call<api.QuotesAnswer>({ method: 'POST', ...call });
    },

    /** The transaction that places an order: sign it, then `signAndSubmit`. */
    order(body: api.OrderBody, options?: CallOptions) {
      return http.call<api.OrderAnswer>({ method: 'POST', path: '/order', body, options });
    },

    cancel(body: api.CancelBody, options?: CallOptions) {
      return http.call<api.CancelAnswer>({ method: 'POST', path: '/cancel', body, options });
    },

    transfer(body: api.TransferBody, options?: CallOptions) {
      return http.call<api.TransferAnswer>({ method: 'POST', path: '/transfer', body, options });
    },

    /** Each launch that is built keeps an image on the server, so it is not repeated by itself. */
    launch({ image, ...info }: LaunchForm, options?: CallOptions) {
      const form = new FormData();
      const extension = image.type.replace(/^image\//, '') || 'bin';
      form.set('image', image, `logo.${extension}`);
      form.set('info', JSON.stringify(info));
      const call = { path: '/launch', form, isRepeatable: false, options };
      return http.call<api.LaunchAnswer>({ method: 'POST', ...call });
    },

    parameters(options?: CallOptions) {
      return http.call<api.ParametersAnswer>({ method: 'GET', path: '/parameters', options });
    },

    protocolConfig(options?: CallOptions) {
      const path = '/snekfun-front/protocol-config.json';
      return http.call<api.ProtocolConfigAnswer>({ method: 'GET', path, options });
    },
  };
}

/** Safe to repeat: a transaction that is known answers the same again. */
export function submitRoutes(http: Http) {
  return {
    /** A transaction with all its witnesses. */
    transaction(body: api.SubmitBody, options?: CallOptions) {
      return http.call<api.SubmitAnswer>({ method: 'POST', path: '/submit', body, options });
    },

    /** Puts a witness set into a transaction. */
    sign(body: api.SignBody, options?: CallOptions) {
      return http.call<api.SignAnswer>({ method: 'POST', path: '/sign', body, options });
    },

    signAndSubmit(body: api.SignAndSubmitBody, options?: CallOptions) {
      const path = '/sign-and-submit';
      return http.call<api.SignAndSubmitAnswer>({ method: 'POST', path, body, options });
    },
  };
}

export function vestingRoutes(http: Http) {
  return {
    createLock(body: api.CreateLockBody, options?: CallOptions) {
      const call = { path: '/create-lock', body, options };
      return http.call<api.CreateLockAnswer>({ method: 'POST', ...call });
    },

    withdraw(body: api.WithdrawBody, options?: CallOptions) {
      return http.call<api.WithdrawAnswer>({ method: 'POST', path: '/withdraw', body, options });
    },

    /** Unspent locks of a payment key. */
    byOwner(pkh: string, options?: CallOptions) {
      const query = { redeemerVkhs: pkh };
      const call = { path: '/v1/vesting/get-by-redeemer', query, body: {}, options };
      return http.call<api.LocksByOwnerAnswer>({ method: 'POST', ...call });
    },

    byAsset(asset: string, options?: CallOptions) {
      const path = `/v1/vesting/get-by-asset/${encodeURIComponent(asset)}`;
      return http.call<api.LocksByAssetAnswer>({ method: 'POST', path, body: {}, options });
    },
  };
}

export function utxosRoutes(http: Http) {
  return {
    list(body: api.GetUtxosBody, options?: CallOptions) {
      return http.call<api.GetUtxosAnswer>({ method: 'POST', path: '/getUtxos', body, options });
    },
  };
}

/** There on a devnet only; elsewhere `ApiError` NOT_FOUND. */
export function devnetRoutes(http: Http) {
  const once = <T>(path: string, body: object, options?: CallOptions) =>
    http.call<T>({ method: 'POST', path, body, isRepeatable: false, options });
  return {
    faucet(body: api.FaucetBody, options?: CallOptions) {
      return once<api.FaucetAnswer>('/devnet/v1/faucet', body, options);
    },

    /** Undoes the newest blocks. */
    fork(body: api.ForkBody, options?: CallOptions) {
      return once<api.ForkAnswer>('/devnet/v1/fork', body, options);
    },

    mine(body: api.MineBody, options?: CallOptions) {
      return once<api.MineAnswer>('/devnet/v1/mine', body, options);
    },
  };
}

export function serverRoutes(http: Http) {
  return {
    time(options?: CallOptions) {
      const path = '/v1/utility/server/time';
      return http.call<api.ServerTimeAnswer>({ method: 'GET', path, options });
    },

    /** Limits of the client's API key or address, and the remaining amounts. */
    limits(options?: CallOptions) {
      return http.call<api.LimitsAnswer>({ method: 'GET', path: '/v1/limits', options });
    },
    /** US dollars for one ADA; `ApiError` NOT_CONFIGURED where the server has no source. */
    adaUsd(options?: CallOptions) {
      const path = '/v1/utility/ada-usd/rate';
      return http.call<api.AdaUsdRateAnswer>({ method: 'GET', path, options });
    },

    /** Also while the node is syncing: `synced` false then. */
    ready(options?: CallOptions) {
      const call = { path: '/health/ready', alsoAnswers: 503, options };
      return http.call<api.HealthReadyAnswer>({ method: 'GET', ...call });
    },
  };
}
