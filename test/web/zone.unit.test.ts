/** Times of a chart: the axis and the legend say the same moment, in the zone that was chosen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timesOf, zoneName } from '../../src/web/chart/zone.ts';

/** 23 November 2026, 22:30 UTC; the day after in Tokyo. */
const EVENING = Date.UTC(2026, 10, 23, 22, 30) / 1000;
const DAY_MARK = 2;
const TIME_MARK = 3;

/** As a browser in this zone; the tests of one process share theirs. */
function inZone(zone: string, run: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    run();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test('the reader’s zone and UTC differ by what its name says', () => {
  inZone('Asia/Tokyo', () => {
    const [local, utc] = [timesOf('local', 'minute'), timesOf('utc', 'minute')];
    assert.equal(local.mark(EVENING, TIME_MARK), '07:30');
    assert.equal(utc.mark(EVENING, TIME_MARK), '22:30');
    assert.match(local.moment(EVENING), /24.*7:30/);
    assert.match(utc.moment(EVENING), /23.*10:30/);
    assert.match(local.mark(EVENING, DAY_MARK), /24/);
    assert.match(utc.mark(EVENING, DAY_MARK), /23/);
    assert.equal(zoneName('local', EVENING), 'UTC+9');
    assert.equal(zoneName('utc', EVENING), 'UTC');
  });
  inZone('UTC', () => assert.equal(zoneName('local', EVENING), 'UTC'));
});

test('a bar of a day is a day of UTC in every zone, without a time', () => {
  inZone('America/New_York', () => {
    const day = Date.UTC(2026, 10, 23) / 1000;
    const { mark, moment } = timesOf('local', 'day');
    assert.equal(mark(day, DAY_MARK), '23');
    assert.match(moment(day), /23, 2026$/);
    assert.match(timesOf('local', 'minute').moment(day), /22.*7:00/);
  });
});

test('empty places between minutes have no mark', () => {
  assert.equal(timesOf('utc', 'trade').mark(EVENING + 20.0003, TIME_MARK), '22:30:20');
  assert.match(timesOf('utc', 'trade').moment(EVENING + 20.0003), /10:30:20/);
});
