/** Which addresses a webhook may lead to, address by address, with the ends of each range. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress, rangesOf } from '../../../src/api/webhooks/publicAddress.ts';

/** The first and the last address of each refused range, and its public neighbours. */
const IPV4: readonly (readonly [what: string, first: string, last: string, ...near: string[]])[] = [
  ['this network', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['private 10', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['carrier NAT', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['Azure', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['link-local', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['private 172', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['protocols', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['documentation 1', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['private 192', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['benchmarks', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['documentation 2', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['documentation 3', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['multicast and reserved', '224.0.0.0', '255.255.255.255', '223.255.255.255'],
];

const METADATA = [
  '169.254.169.254', // AWS, Google, Azure, DigitalOcean, OpenStack
  '169.254.170.2', // AWS tasks
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Azure platform
  'fd00:ec2::254', // AWS over IPv6
  'fd20:ce::254', // Google over IPv6
];

const REFUSED_IPV6 = [
  '::', // unspecified
  '::1', // loopback
  '::7f00:1', // IPv4-compatible
  '::ffff:127.0.0.1', // IPv4-mapped
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::a00:1', // NAT64 of 10.0.0.1
  '64:ff9b:1::1',
  '100::1', // discard
  '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001::1', // Teredo
  '2001:2::1', // benchmarks
  '2001:10::1', // ORCHID
  '2001:20::1',
  '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8::1', // documentation
  '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2002:7f00:1::1', // 6to4 of 127.0.0.1
  '2002:a00:1::1',
  '3fff::1', // documentation
  '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  '4000::1', // not given out
  'fc00::1', // unique local
  'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe80::1', // link-local
  'fe80::1%eth0',
  'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fec0::1', // site-local
  'ff02::1', // multicast
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

const PUBLIC_IPV6 = [
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::1',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:800::200e',
  '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '3fff:1000::1',
];

test('each range of IPv4 that is not public is refused from end to end, and no more', () => {
  for (const [what, first, last, ...near] of IPV4) {
    for (const address of [first, last]) assert(!isPublicAddress(address), `${what}: ${address}`);
    for (const address of near) assert(isPublicAddress(address), `beside ${what}: ${address}`);
  }
});

test('metadata services are refused', () => {
  for (const address of METADATA) assert(!isPublicAddress(address), address);
});

test('in IPv6, only addresses for hosts are public, and none that holds an IPv4', () => {
  for (const address of REFUSED_IPV6) assert(!isPublicAddress(address), address);
  for (const address of PUBLIC_IPV6) assert(isPublicAddress(address), address);
});

test('text that is no address is not public', () => {
  for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', '08.8.8.8', '8.8.8.8 ', '[2000::1]']) {
    assert(!isPublicAddress(text), text);
  }
});

test('allowed ranges hold for an address in either notation, and for nothing beside them', () => {
  const list = rangesOf(['10.1.0.0/16', '192.0.2.7', 'fd00::/8']);
  const has = (text: string, family: 'ipv4' | 'ipv6') => list.check(text, family);
  assert(has('10.1.255.255', 'ipv4') && has('192.0.2.7', 'ipv4') && has('fd12::1', 'ipv6'));
  assert(!has('10.2.0.0', 'ipv4') && !has('192.0.2.8', 'ipv4') && !has('fe00::1', 'ipv6'));
});
