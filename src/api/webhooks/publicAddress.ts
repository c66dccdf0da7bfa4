/**
 * Which addresses a client's URL may lead to: addresses of the public internet, and addresses that
 * the operator allows. Everything else is refused, so that a webhook reaches no network, no machine
 * and no metadata service of the operator.
 *
 * Source: IANA special-purpose address registries (RFC 6890 and updates), as of 2025.
 */
import { BlockList, isIP } from 'node:net';

/** Not of the public internet, or not of one host. */
const REFUSED_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // behind a carrier's NAT; metadata of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // platform services of Azure
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; metadata of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];
/**
 * Addresses that are assigned to hosts: mapped, translated, local and multicast addresses lie
 * outside.
 */
const PUBLIC_IPV6 = '2000::/3';
const REFUSED_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: holds an IPv4 address
  '3fff::/20', // documentation
];
const CIDR = /^([^/]+)\/(\d{1,3})$/;

const refusedIpv4 = rangesOf(REFUSED_IPV4);
const publicIpv6 = rangesOf([PUBLIC_IPV6]);
const refusedIpv6 = rangesOf(REFUSED_IPV6);

/** `text` is an address as the resolver and the URL parser write it. */
export function isPublicAddress(text: string): boolean {
  const family = isIP(text);
  if (family === 4) return !refusedIpv4.check(text, 'ipv4');
  return family === 6 && publicIpv6.check(text, 'ipv6') && !refusedIpv6.check(text, 'ipv6');
}

/** Addresses and CIDRs, which are correct. */
export function rangesOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [, network = text, bits] = CIDR.exec(text) ?? [];
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(bits), family);
  }
  return list;
}
