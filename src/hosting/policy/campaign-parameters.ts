import { phpName } from './query-names.ts';

/**
 * Query parameters that advertising and mail services add to links. They never change a page, and each visit has its own, so the
 * page cache leaves them out of its key.
 */
export const CAMPAIGN_PARAMETERS = [
  '_gl',
  'dclid',
  'fbclid',
  'gad_campaignid',
  'gad_source',
  'gbraid',
  'gclid',
  'gclsrc',
  'igsh',
  'igshid',
  'li_fat_id',
  'mc_cid',
  'mc_eid',
  'msclkid',
  'srsltid',
  'ttclid',
  'twclid',
  'wbraid',
  'yclid',
];

/** Parameters with this prefix belong to a campaign, too. */
export const CAMPAIGN_PREFIX = 'utm_';

export interface SplitQuery {
  /** Path and query without campaign parameters. */
  uri: string;
  /** Campaign parameters as the visitor sent them, joined by `&`. */
  campaign: string;
}

/**
 * Separates the campaign parameters of a path with query, and those that the install ignores, too. The others keep their order and
 * encoding.
 */
export function splitCampaign(uri: string, ignored: readonly string[] = []): SplitQuery {
  const mark = uri.indexOf('?');
  if (mark < 0) return { uri, campaign: '' };
  const [campaign, others] = partition(uri.slice(mark + 1).split('&'), (parameter) =>
    isCampaign(parameter, ignored),
  );
  if (campaign.length === 0) return { uri, campaign: '' };
  const path = uri.slice(0, mark);
  return {
    uri: others.length === 0 ? path : `${path}?${others.join('&')}`,
    campaign: campaign.join('&'),
  };
}

/**
 * Adds a visitor's campaign parameters to the `Location` of a cached redirect, so that scripts on the target page see them.
 * Redirects to another host than `host` (with port) stay as they are.
 */
export function locationWithCampaign(location: string, host: string, campaign: string): string {
  if (campaign === '' || !isOnHost(location, host)) return location;
  const hash = location.indexOf('#');
  const target = hash < 0 ? location : location.slice(0, hash);
  const fragment = hash < 0 ? '' : location.slice(hash);
  return `${target}${target.includes('?') ? '&' : '?'}${campaign}${fragment}`;
}

function isCampaign(parameter: string, ignored: readonly string[]): boolean {
  const name = phpName(parameter);
  if (ignored.includes(name)) return true;
  return (name.startsWith(CAMPAIGN_PREFIX) && !name.includes('[')) || CAMPAIGN_PARAMETERS.includes(name);
}

function isOnHost(location: string, host: string): boolean {
  if (/^\/(?![/\\])/.test(location)) return true;
  const [, authority] = /^https?:\/\/([^/?#\\]*)/i.exec(location) ?? [];
  return authority?.toLowerCase() === host;
}

function partition<Item>(items: Item[], holds: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(holds), items.filter((item) => !holds(item))];
}
