/** Logos by content id, as an IPFS gateway would serve them. */
import Type from 'typebox';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import type { ImageStore } from './port.ts';

export function imageRoutes(images: ImageStore): Route[] {
  return [
    route({
      method: 'GET',
      path: '/ipfs/:cid',
      operationId: 'image',
      tag: 'Images',
      summary: 'A token’s logo by its content id',
      params: Type.Object({ cid: Type.String({ pattern: '^[A-Za-z0-9]{1,128}$' }) }),
      answers: { 200: { description: 'The image', type: 'image/*' } },
      causes: ['NOT_FOUND', 'NOT_READY'],
      rate: 'read',
      needsSync: false,
      positioned: false,
      etag: true,
      async handle({ params: { cid } }) {
        const found = await images.get(cid);
        if (found instanceof Failure) return found;
        if (found === null) return new Failure('NOT_FOUND', `No image ${cid} is kept here.`);
        const headers = {
          'Cache-Control': 'public, max-age=31536000, immutable',
          // Browsers must never treat an upload as a page.
          'X-Content-Type-Options': 'nosniff',
        };
        return { body: found.bytes, type: found.mediaType, tag: cid, headers };
      },
    }),
  ];
}
