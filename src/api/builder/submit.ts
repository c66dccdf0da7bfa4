/** Adds a caller's signatures to a transaction, and submits it. The server never signs here. */

import { mergeWitnesses } from '../../cardano/build/witness.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { BUILDS, readAddress, type TxBuildContext } from '../building/txBuildContext.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { SignBody, SignedAnswer, SubmitBody, SubmittedAnswer } from './schema.ts';

export function submitRoutes(txContext: TxBuildContext): Route[] {
  const submitted = { 200: { description: 'Accepted', schema: SubmittedAnswer } };
  return [
    route({
      ...BUILDS,
      path: '/sign',
      operationId: 'sign',
      summary: 'Put the signatures of a witness set into a transaction',
      body: SignBody,
      answers: { 200: { description: 'With the signatures', schema: SignedAnswer } },
      causes: ['SERVER_ERROR'],
      handle({ body }) {
        const signed = sign(txContext, body);
        return signed instanceof Failure ? signed : jsonAnswer({ cbor: toHex(signed) });
      },
    }),
    route({
      ...BUILDS,
      path: '/sign-and-submit',
      operationId: 'signAndSubmit',
      summary: 'As `/sign`, then `/submit`',
      body: SignBody,
      answers: submitted,
      causes: ['SERVER_ERROR'],
      async handle({ body }) {
        const signed = sign(txContext, body);
        return signed instanceof Failure ? signed : submit(txContext, signed);
      },
    }),
    route({
      ...BUILDS,
      path: '/submit',
      operationId: 'submit',
      summary: 'Send a signed transaction',
      description: 'One that waits already, or is in a block, is answered the same again.',
      body: SubmitBody,
      answers: submitted,
      causes: ['SERVER_ERROR'],
      handle: ({ body }) => submit(txContext, fromHex(body.cbor)),
    }),
  ];
}

function sign(
  txContext: TxBuildContext,
  { cbor, witness, changeAddress }: SignBody,
): Uint8Array | Failure {
  const owner = readAddress(txContext, changeAddress, 'body.changeAddress');
  return owner instanceof Failure ? owner : mergeWitnesses(fromHex(cbor), witness);
}

async function submit({ submitter }: TxBuildContext, bytes: Uint8Array): Promise<Answer | Failure> {
  const outcome = await submitter.submit(bytes);
  if (outcome instanceof Failure) return outcome;
  if (outcome.outcome === 'accepted') return jsonAnswer({ txHash: outcome.txHash });
  return new Failure('SERVER_ERROR', `submit: ${outcome.message}`, { reason: outcome.reason });
}
