// Made from the schemas of the server by test/client/writeWireTypes.ts: not edited by hand.
import type { Webhook, WebhookBody, WebhookMade, WebhookRemoved, Webhooks } from './shapes.ts';

export type CreateWebhookBody = WebhookBody;

export type CreateWebhookAnswer = WebhookMade;

export type WebhooksAnswer = Webhooks;

export type WebhookAnswer = Webhook;

export type DeleteWebhookAnswer = WebhookRemoved;
