import { hash } from 'node:crypto';

/** Ends the tag of a compressed answer, because another representation needs another strong tag (RFC 9110, section 8.8.3.3). */
const CODED = /-(?:br|gzip)"$/;
const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** A strong entity tag of an answer's body. */
export function entityTag(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** Whether `If-None-Match` names the current tag or any (RFC 9110, section 13.1.2). */
export function isNoneMatch(header: string, current: string): boolean {
  if (header.trim() === '*') return true;
  return (header.match(TAGS) ?? []).some((tag) => uncoded(tag.replace(/^W\//, '')) === current);
}

/** Whether `If-Match` allows a change of the current representation. Weak tags never match (RFC 9110, section 13.1.1). */
export function isMatch(header: string, current: string): boolean {
  if (header.trim() === '*') return true;
  return (header.match(TAGS) ?? []).some((tag) => uncoded(tag) === current);
}

/** The tag of a body in a content coding. */
export function codedTag(tag: string, coding: string): string {
  return tag.replace(/"$/, `-${coding}"`);
}

function uncoded(tag: string): string {
  return tag.replace(CODED, '"');
}
