import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { addressBlock } from '../../../lib/address-block.ts';

/** Longer user agents are cut, here and in nginx's log. */
export const LONGEST_AGENT = 300;
const REMEMBERED_AGENTS = 2_000;

const bots = new LRUCache<string, boolean>({ max: REMEMBERED_AGENTS });

/**
 * Whether a request counts as a visit: its user agent is none of the bots that the package `isbot` lists. A request without a user
 * agent does not, because every browser sends one.
 */
export function isVisit(userAgent: string | undefined): boolean {
  if (userAgent === undefined || userAgent === '') return false;
  const agent = userAgent.slice(0, LONGEST_AGENT);
  const known = bots.get(agent);
  if (known !== undefined) return !known;
  const bot = isbot(agent);
  bots.set(agent, bot);
  return !bot;
}

/** The address that counts as one visitor: an IPv4 address or a /64 block of IPv6, in which devices change their addresses daily. */
export function visitorOf(address: string): string {
  return addressBlock(address);
}
