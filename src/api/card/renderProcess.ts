/**
 * Draws cards in a separate process: a logo is a stranger's file, and whatever it does to a
 * decoder ends this process and not the server. It answers one request after the other, and ends
 * when the server does.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Resvg } from '@resvg/resvg-js';
import { type CardFacts, cardSvg, FAMILY, logoSvg } from './picture.ts';

export interface RenderRequest {
  readonly id: number;
  readonly facts: CardFacts;
  readonly logo: { readonly bytes: Uint8Array; readonly mediaType: string } | null;
}

export interface RenderAnswer {
  readonly id: number;
  readonly png: Uint8Array;
}

const require = createRequire(import.meta.url);
const fontFiles = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((name) =>
  require.resolve(`dejavu-fonts-ttf/ttf/${name}`),
);
// Reads them now: a file that is missing ends the process at its start, with its name.
for (const file of fontFiles) readFileSync(file);
const font = { fontFiles, loadSystemFonts: false, defaultFontFamily: FAMILY };

export function render({ facts, logo }: Omit<RenderRequest, 'id'>): Uint8Array {
  return draw(cardSvg(facts, logo === null ? null : smallLogo(logo))).asPng();
}

/** null: it cannot be decoded. */
function smallLogo({ bytes, mediaType }: NonNullable<RenderRequest['logo']>): Uint8Array | null {
  try {
    const drawn = draw(logoSvg(bytes, mediaType));
    // A file that the decoder gives up on leaves nothing.
    const isSeen = drawn.pixels.some((value, index) => index % 4 === 3 && value > 0);
    return isSeen ? drawn.asPng() : null;
  } catch {
    // It cannot be decoded: the picture is made without a logo.
    return null;
  }
}

function draw(svg: string) {
  return new Resvg(svg, { font, logLevel: 'off' }).render();
}

process.on('message', (message) => {
  const request = message as RenderRequest; // trust: cardRenderer.ts sends it
  const answer: RenderAnswer = { id: request.id, png: render(request) };
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());
