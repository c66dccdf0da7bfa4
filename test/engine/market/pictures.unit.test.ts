/**
 * Texts and colours of pictures: how many times a value is of another one, and the colour of a
 * logo.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardColours, hueOfAsset, mainHue } from '../../../src/engine/market/mainColour.ts';
import { multipleText } from '../../../src/engine/market/multiple.ts';

test('a multiple is cut, never rounded up, and says nothing where nothing was spent', () => {
  const of = (numerator: bigint, denominator: bigint) => multipleText({ numerator, denominator });
  assert.equal(of(239n, 100n), '2.3×');
  assert.equal(of(2n, 1n), '2×');
  assert.equal(of(99_999n, 1_000n), '99.9×');
  assert.equal(of(1_234n, 1n), '1,234×');
  assert.equal(of(12_345n, 1n), '12.3k×');
  assert.equal(of(107n, 100n), '1.07×');
  assert.equal(of(459n, 1_000n), '0.45×');
  assert.equal(of(1n, 1_000_000n), '<0.01×');
  assert.equal(of(0n, 5n), '0×');
  assert.equal(of(9_007_199_254_740_993n * 3n, 9_007_199_254_740_993n), '3×');
  assert.equal(of(1n, 0n), null);
  assert.equal(of(-1n, 5n), null, 'more was lost than spent');
});

/** Pixels of these colours, each as often as it says. */
function pixels(...runs: readonly (readonly [rgba: readonly number[], count: number])[]) {
  return runs.flatMap(([rgba, count]) => Array.from({ length: count }, () => rgba)).flat();
}

test('the hue of a logo is that of most of its colour; grey and transparent ones have none', () => {
  const near = (hue: number | null, wanted: number) =>
    assert(hue !== null && Math.abs(hue - wanted) < 15, `${hue}`);
  near(mainHue(pixels([[255, 255, 255, 255], 900], [[20, 200, 30, 255], 100])), 123);
  near(mainHue(pixels([[200, 0, 0, 255], 10], [[0, 0, 250, 255], 90])), 240);
  near(mainHue(pixels([[200, 0, 0, 255], 10], [[0, 0, 250, 0], 90])), 0);
  assert.equal(mainHue(pixels([[120, 121, 122, 255], 50])), null);
  assert.equal(mainHue([]), null);
});

test('every accent can be read on its ground', () => {
  const light = (hex: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
      return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (const hue of [null, ...Array.from({ length: 360 }, (_, degree) => degree)]) {
    const { ground, panel, accent } = cardColours(hue);
    for (const under of [ground, panel]) {
      const contrast = (light(accent) + 0.05) / (light(under) + 0.05);
      assert(contrast >= 4.5, `${hue}: ${contrast}`);
    }
  }
  assert.equal(hueOfAsset('zz'), 0);
});
