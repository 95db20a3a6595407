/** Parses and edits the text of passwd(5), group(5) and shadow(5). Lines that cannot be parsed stay as they are. */

/** An install's line in passwd(5). The comment field marks the line as ours. */
export interface AccountLine {
  installId: string;
  name: string;
  uid: number;
  gid: number;
  home: string;
  shell: string;
}

export interface IdRange {
  first: number;
  last: number;
}

export interface NumberedName {
  name: string;
  number: number;
}

/** Names and user ids in passwd(5), or names and group ids in group(5). */
export function namesIn(text: string): NumberedName[] {
  return linesOf(text).flatMap((line) => {
    const [name, , number] = line.split(':');
    return name && number !== undefined && /^\d+$/.test(number) ? [{ name, number: Number(number) }] : [];
  });
}

/** Ranges of ids in subuid(5) or subgid(5), reserved for users' containers. */
export function subordinateRanges(text: string): IdRange[] {
  return linesOf(text).flatMap((line) => {
    const [, first = '', count = ''] = line.split(':');
    if (!/^\d+$/.test(first) || !/^\d+$/.test(count)) return [];
    return [{ first: Number(first), last: Number(first) + Number(count) - 1 }];
  });
}

/** The accounts of one host in passwd(5). */
export function accountsIn(text: string, instance: string): AccountLine[] {
  return linesOf(text).flatMap((line) => accountOf(line, instance) ?? []);
}

function accountOf(line: string, instance: string): AccountLine | null {
  const fields = line.split(':');
  const [name, , uid, gid, comment, home, shell] = fields;
  const prefix = ownerPrefix(instance);
  if (fields.length !== 7 || !name || !comment?.startsWith(prefix)) return null;
  return {
    installId: comment.slice(prefix.length),
    name,
    uid: Number(uid),
    gid: Number(gid),
    home: home ?? '',
    shell: shell ?? '',
  };
}

/** Goes into the comment field (GECOS), which cannot contain `:` or `,`. */
function ownerPrefix(instance: string): string {
  return `homeport/${instance}/`;
}

/** Begins the comment field of a name that only leads to another host. */
const RELAY_PREFIX = 'homeport-relay/';
const relayComment = (instance: string): string => `${RELAY_PREFIX}${instance}`;

/** passwd(5) with lines for exactly these names, which all have one user id. They come first, so that they go before an install's line. */
export function withRelays(text: string, instance: string, names: readonly string[], uid: number): string {
  const comment = relayComment(instance);
  const lines = [...names].sort().map((name) => [name, '*', uid, uid, comment, '/', '/bin/sh'].join(':'));
  return joined([...lines, ...linesOf(text).filter((line) => line.split(':')[4] !== comment)]);
}

/** passwd(5) without the names that lead to other hosts. */
export function withoutRelays(text: string): string {
  return joined(linesOf(text).filter((line) => !line.split(':')[4]?.startsWith(RELAY_PREFIX)));
}

/** The user ids of the names that lead to other hosts, of each host of the machine. */
export function relayIdsIn(text: string): number[] {
  const lines = linesOf(text).map((line) => line.split(':'));
  return lines.flatMap(([, , id, , comment]) => (comment?.startsWith(RELAY_PREFIX) ? [Number(id)] : []));
}

/** The user id of the names of a host that lead to others; null without any. */
export function relayIdIn(text: string, instance: string): number | null {
  const line = linesOf(text).find((one) => one.split(':')[4] === relayComment(instance));
  return line === undefined ? null : Number(line.split(':')[2]);
}

/** passwd(5) with exactly this line for the install. */
export function withAccount(text: string, instance: string, account: AccountLine): string {
  const { installId, name, uid, gid, home, shell } = account;
  const line = [name, 'x', uid, gid, ownerPrefix(instance) + installId, home, shell].join(':');
  return withOne(linesOf(text), line, (other) => accountOf(other, instance)?.installId === installId);
}

/** passwd(5) without the install's line. */
export function withoutAccount(text: string, instance: string, installId: string): string {
  return joined(linesOf(text).filter((line) => accountOf(line, instance)?.installId !== installId));
}

/** group(5) or shadow(5) with exactly this line for its name. */
export function withLine(text: string, line: string): string {
  const name = line.slice(0, line.indexOf(':') + 1);
  return withOne(linesOf(text), line, (other) => other.startsWith(name));
}

/** Replaces the matching line in place, or appends the line. A line that is already right does not move. */
function withOne(lines: string[], line: string, isReplaced: (other: string) => boolean): string {
  const at = lines.findIndex(isReplaced);
  if (at < 0) return joined([...lines, line]);
  return joined(lines.flatMap((other, index) => (index === at ? line : isReplaced(other) ? [] : other)));
}

/** group(5) or shadow(5) without the line of this name. */
export function withoutName(text: string, name: string): string {
  return joined(linesOf(text).filter((line) => !line.startsWith(`${name}:`)));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function joined(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
