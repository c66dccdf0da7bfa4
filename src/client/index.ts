/** the entry point of programs and pages. what programs and pages import. */

export { type AddressNetwork, Key, newSecret, transactionId } from '../cardano/keys/keys.ts';
export { ApiError, type LocalCause } from './apiError.ts';
export {
  type BarOptions,
  Client,
  type ClientOptions,
  type TopicParams,
  type TopicReceiver,
} from './client.ts';
export type { Candle } from './mirrors/barList.ts';
export type { CapBar, PriceBar } from './mirrors/barSource.ts';
export type { BarsChange, BarsMirror, BarsState } from './mirrors/bars.ts';
export type { LaunchesChange, LaunchesMirror } from './mirrors/launches.ts';
export type { Change, Mirror, Reason } from './mirrors/mirror.ts';
export type { OrdersChange, OrdersMirror, OrdersState } from './mirrors/orders.ts';
export type { PoolsChange, PoolsMirror, PoolsState } from './mirrors/pools.ts';
export type { TickersChange, TickersMirror, TickersState } from './mirrors/tickers.ts';
export type { TradesChange, TradesMirror, TradesState } from './mirrors/trades.ts';
export type { WholeMirror } from './mirrors/whole.ts';
export {
  type Chance,
  type ClientPlatform,
  type Clock,
  type Fetch,
  type OpenSocket,
  type Socket,
  systemPlatform,
  type Timer,
} from './platform.ts';
export type { Answer, CallOptions, HistoryAnswer, TradesPage } from './rest/answer.ts';
export type { LaunchForm } from './rest/wallets.ts';
export { isFromWebhook } from './rest/webhooks.ts';
export type { Connection, ConnectionState, Notice, Tip, Transport } from './socket/connection.ts';
export type { Receiver, SubscribeParams } from './socket/subscription.ts';
export type { Payment, Review } from './trade/review.ts';
export {
  type LaunchedToken,
  type LaunchRequest,
  type LockRequest,
  type OrderRequest,
  type PlacedOrder,
  type PreparedTx,
  type SubmittedTx,
  TradingClient,
  type TransferRequest,
} from './trade/tradingClient.ts';
export { KeyWallet, type TradingWallet, type WalletSecrets } from './trade/wallet.ts';
export type * from './types.ts';
