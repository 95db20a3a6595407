import type { InstallRef } from '../../contract/install-ref.ts';
import { type AuthorNames, authorFault, isOfProvider } from './author.ts';
import { completeHead, type Field, type MessageHead, renderHead, unfolded } from './message-head.ts';
import { parseAddress } from './recipients.ts';

/** Characters of all fields about mailing lists. */
const LONGEST_LISTS = 8 * 1024;

/** An install that sends a message. */
export interface SendingInstall extends AuthorNames {
  install: InstallRef;
}

/**
 * The head that leaves the host, or why the message must not. Checks the completed head, so that what the host adds follows the rules for
 * what websites write.
 */
export function outgoingHead(
  given: MessageHead,
  { install, ...names }: SendingInstall,
  { id, date }: { id: string; date: Date },
): { head: Buffer } | { fault: string } {
  const { fields, length } = completeHead(given, { id, install, ownDomain: names.ownDomain, date });
  const head = {
    fields: withoutLongLists(fields).filter((field) => !speaksForProvider(field, names)),
    length,
  };
  const fault = authorFault(head, names);
  return fault === null ? { head: renderHead(head) } : { fault };
}

/** Mail of lists has some hundred characters of these fields. Reading all hosts in a whole head would take a second. */
function withoutLongLists(fields: readonly Field[]): Field[] {
  let length = 0;
  return fields.filter(({ name, text }) => {
    if (!isOfList(name)) return true;
    length += text.length;
    return length <= LONGEST_LISTS;
  });
}

const isOfList = (name: string): boolean => name.startsWith('list-');

/** Whether mail programs would take a field for the provider's: its signature, or its mailing list. */
function speaksForProvider({ name, text }: Field, names: AuthorNames): boolean {
  const value = unfolded(text);
  // Websites may sign for their own domains. A signature of an unreadable domain proves nothing.
  if (name === 'dkim-signature') {
    const domain = domainOf(/^(?:[^;]*;)*?\s*d\s*=\s*([^;\s]+)\s*(?:;|$)/.exec(value)?.[1] ?? '');
    return domain === null || isOfProvider(domain, names);
  }
  return isOfList(name) && mentionedHosts(value).some((host) => isOfProvider(host, names));
}

/** The hosts of the addresses (RFC 2369) in a field. */
function mentionedHosts(value: string): string[] {
  return [...value.replaceAll(/%40/g, '@').matchAll(/(?:@|\/\/)([^\s<>()[\],;:@/?#\\]+)/g)].flatMap(
    ([, host = '']) => domainOf(host) ?? [],
  );
}

/** A domain in ASCII and lower case; null for other texts. */
function domainOf(text: string): string | null {
  return parseAddress(`a@${text.replace(/\.+$/, '')}`)?.slice('a@'.length) ?? null;
}
