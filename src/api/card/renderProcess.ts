/**
 * Draws cards in a separate process: a logo is a stranger's file, and if it crashes a decoder, only
 * this process ends and not the server. It answers one request after the other, and ends when the
 * server does.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { mainHue } from '../../engine/market/mainColour.ts';
import { missingCharacters } from './glyphs.ts';
import { type CardFacts, cardSvg, FAMILY, logoSvg, namesOf } from './picture.ts';

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
/**
 * Letters of Europe and of the Near East; Chinese, Japanese and Korean; emoji in one colour, the
 * only kind that resvg draws. In this order: characters that the first ones lack are taken from the
 * others.
 */
const fontFiles = [
  require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  require.resolve('@expo-google-fonts/noto-emoji/700Bold/NotoEmoji_700Bold.ttf'),
  fileURLToPath(new URL('./wqy-microhei.ttc', import.meta.url)),
];
// Reads them now: a file that is missing ends the process at its start, with its name.
for (const file of fontFiles) readFileSync(file);
const font = { fontFiles, loadSystemFonts: false, defaultFontFamily: FAMILY };

export function render({ facts, logo }: Omit<RenderRequest, 'id'>): Uint8Array {
  const missing = missingCharacters(namesOf(facts), draw);
  const small = logo === null ? null : smallLogo(logo);
  const hue = small === null ? null : mainHue(small.pixels);
  return draw(cardSvg(facts, { logo: small?.asPng() ?? null, hue, missing })).asPng();
}

/** null: it cannot be decoded. */
function smallLogo({ bytes, mediaType }: NonNullable<RenderRequest['logo']>) {
  try {
    const drawn = draw(logoSvg(bytes, mediaType));
    // A file that the decoder gives up on leaves nothing.
    const isSeen = drawn.pixels.some((value, index) => index % 4 === 3 && value > 0);
    return isSeen ? drawn : null;
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
