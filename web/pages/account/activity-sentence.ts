import type { Entry } from '../../api/activity.ts';
import { formatTime } from '../../components/formatted-time.ts';
import { truncate } from '../../components/truncate.ts';
import { nameOfKind } from '../install/operations/operation-labels.ts';
import {
  accountUpdate,
  accountUserRemove,
  accountUserUpdate,
  chosenParts,
  domainUpdate,
  installUpdate,
  itemChange,
  partOf,
  profileUpdate,
  protectionChange,
  purgedPart,
  siteUpdate,
  updatedItems,
} from './activity-changes.ts';
import {
  asRoles,
  counted,
  type Details,
  type EntryFields,
  isOwn,
  LONGEST_NAME,
  ofSubject,
  possessive,
  text,
} from './activity-words.ts';
import { nameAndAddress } from './person-name.ts';

/** Returns a sentence for an entry, without its full stop: "Frida Full added the domain shop.example". */
export function sentenceOf(entry: EntryFields): string {
  const predicate = Object.hasOwn(PREDICATES, entry.action) ? PREDICATES[entry.action] : unknownPredicate;
  return `${capital(nameAndAddress(entry.user_name).name)} ${predicate(entry, entry.details ?? {})}`;
}

const PREDICATES: Record<Entry['action'], (entry: EntryFields, details: Details) => string> = {
  'account.create': ({ subject_name }) => `created the account ${subject_name}`,
  'account.update': accountUpdate,
  'account.limit': () => 'changed the limits of the account',
  'account_user.invite': ({ subject_name }, { again, roles }) =>
    again === true ? `invited ${subject_name} again` : `invited ${subject_name}${asRoles(roles)}`,
  'account_user.add': ({ subject_name }, { roles }) => `added ${subject_name}${asRoles(roles)}`,
  'account_user.accept': () => 'accepted the invitation',
  'account_user.update': accountUserUpdate,
  'account_user.remove': accountUserRemove,
  'site.create': ({ subject_name }) => `created the site ${subject_name}`,
  'site.update': siteUpdate,
  'site.delete': ({ subject_name }) => `deleted the site ${subject_name}`,
  'tag.rename': ({ subject_name }, { to, sites }) =>
    `renamed the tag ${subject_name} to ${to ?? 'another name'}${inSites(sites)}`,
  'tag.remove': ({ subject_name }, { sites }) => `removed the tag ${subject_name}${inSites(sites)}`,
  'site_transfer.request': ({ subject_name }, { from }) =>
    text(from)
      ? `offered the site ${subject_name} of the account ${from}`
      : `requested the transfer of the site ${subject_name} to another account`,
  'site_transfer.accept': ({ subject_name }) => `accepted the transfer of the site ${subject_name}`,
  'site_transfer.cancel': ({ subject_name }, { declined }) =>
    `${declined === true ? 'declined' : 'cancelled'} the transfer of the site ${subject_name}`,
  'site_transfer.complete': ({ subject_name }, { from, to }) =>
    `transferred the site ${subject_name}${text(from) ? ` from the account ${from}` : ''}${text(to) ? ` to the account ${to}` : ''}`,
  'site_transfer.fail': ({ subject_name }) => `could not transfer the site ${subject_name}`,
  'install.create': ({ subject_name }, { site, again }) =>
    `${again === true ? 'tried again to create' : 'created'} the install ${subject_name}${text(site) ? ` in the site ${site}` : ''}`,
  'install.update': installUpdate,
  'install.delete': ({ subject_name }) => `deleted the install ${subject_name}`,
  'install.restore': ({ subject_name }) => `restored the deleted install ${subject_name}`,
  'install.update_php': ({ subject_name }, { to }) =>
    `requested PHP ${to ?? 'of another version'} for the install ${subject_name}`,
  'install.update_wordpress': ({ subject_name }, details) =>
    `requested updates of the install ${subject_name}${updatedItems(details)}`,
  'install.change_wordpress': ({ subject_name }, details) =>
    `${itemChange(details)} on the install ${subject_name}`,
  'install.update_policy': ({ subject_name }) =>
    `changed the automatic updates of the install ${subject_name}`,
  'install.switch_core': ({ subject_name }, { to }) =>
    `switched the install ${subject_name} to WordPress ${to ?? 'of another version'}`,
  'install.move': ({ subject_name }, { to }) =>
    `moved the install ${subject_name} to the machine ${to ?? 'of another name'}`,
  'install.rebuild': ({ subject_name }, { backup_at }) =>
    `made the install ${subject_name} again from ${text(backup_at) ? `its backup of ${formatTime(backup_at)}` : 'a backup'}, because its machine was lost`,
  'install.copy': ({ subject_name }, { to, backup_kept }) =>
    `copied the install ${subject_name}${text(to) ? ` into ${to}` : ''}${backup_kept === true ? ' and kept the backup' : ''}`,
  'install.import': ({ subject_name }, { from }) =>
    `requested the import of a website${text(from) ? ` from ${from}` : ''} into ${subject_name}`,
  'install.create_import_key': ({ subject_name }) => `created the key for imports by SSH of ${subject_name}`,
  'install.renew_import_key': ({ subject_name }) => `renewed the key for imports by SSH of ${subject_name}`,
  'install.delete_import_key': ({ subject_name }) => `deleted the key for imports by SSH of ${subject_name}`,
  'install.login_link': ({ subject_name }, { user }) =>
    `created a link that signs in to WordPress of ${subject_name}${text(user) ? ` as ${user}` : ''}`,
  'install.database_link': ({ subject_name }) => `created a link that opens the database of ${subject_name}`,
  'install.update_mail': ({ subject_name }, { limit_per_hour }) =>
    limit_per_hour === 0
      ? `switched off the mail of ${subject_name}`
      : `changed the mail limit of ${subject_name}${typeof limit_per_hour === 'number' ? ` to ${counted(limit_per_hour, 'recipient')} an hour` : ''}`,
  'install.update_php_limits': ({ subject_name }) => `changed the PHP limits of ${subject_name}`,
  'install.restart_php': ({ subject_name }) => `restarted the PHP of ${subject_name}`,
  'install.wp_cli': ({ subject_name }, { command }) =>
    `ran WP-CLI on ${subject_name}${text(command) ? `: ${command}` : ''}`,
  'domain.create': ({ subject_name }) => `added the domain ${subject_name}`,
  'domain.update': domainUpdate,
  'domain.delete': ({ subject_name }) => `removed the domain ${subject_name}`,
  'domain.verify': ({ subject_name }) => `verified the domain ${subject_name} with a TXT record`,
  'domain.lose': ({ subject_name }) =>
    `withdrew the domain ${subject_name} because another account proved ownership`,
  'certificate.order': ({ subject_name }) => `ordered a certificate for ${subject_name}`,
  'certificate.read_key': ({ subject_name }) => `saw the private key of the certificate of ${subject_name}`,
  'certificate.upload': ({ subject_name }, { domains }) =>
    `uploaded a certificate for ${subject_name}${typeof domains === 'number' && domains > 1 ? ` and ${counted(domains - 1, 'other domain')}` : ''}`,
  'backup.create': ({ subject_name }) => `requested the backup “${truncate(subject_name, LONGEST_NAME)}”`,
  'backup.delete': ({ subject_name }) => `deleted the backup “${truncate(subject_name, LONGEST_NAME)}”`,
  'backup.pack': ({ subject_name }) =>
    `packed the backup “${truncate(subject_name, LONGEST_NAME)}” for download`,
  'backup.download_file': ({ subject_name }, { path }) =>
    `downloaded ${text(path) ? truncate(path, LONGEST_NAME) : 'a file'} of the backup “${truncate(subject_name, LONGEST_NAME)}”`,
  'backup.restore': ({ subject_name }, { from, to, files, database, paths, tables }) =>
    `restored ${chosenParts(paths, tables) ?? partOf(files, database)}the backup “${truncate(subject_name, LONGEST_NAME)}”${from === to || !text(to) ? '' : ` of ${from} into ${to}`}`,
  'cache.purge': ({ subject_name }, details) => `purged ${purgedPart(details)} of ${subject_name}`,
  'cache.rules': ({ subject_name }) => `changed the rules of the page cache of ${subject_name}`,
  'protection.update': ({ subject_name }, details) => `${protectionChange(details)} of ${subject_name}`,
  'redirect.create': ({ subject_name }, { from }) =>
    `added ${text(from) ? `the redirect of ${truncate(from, LONGEST_NAME)}` : 'a redirect'} to ${subject_name}`,
  'redirect.update': ({ subject_name }, { from }) =>
    `changed ${text(from) ? `the redirect of ${truncate(from, LONGEST_NAME)}` : 'a redirect'} of ${subject_name}`,
  'redirect.delete': ({ subject_name }, { from }) =>
    `deleted ${text(from) ? `the redirect of ${truncate(from, LONGEST_NAME)}` : 'a redirect'} of ${subject_name}`,
  'redirect.import': ({ subject_name }, { count, replace }) => {
    const redirects = typeof count === 'number' ? counted(count, 'redirect') : 'redirects';
    return replace === true
      ? `replaced the redirects of ${subject_name} by ${redirects}`
      : `imported ${redirects} into ${subject_name}`;
  },
  'operation.cancel': ({ subject_name }, { kind }) => `cancelled ${namedOperation(kind)} of ${subject_name}`,
  'operation.retry': ({ subject_name }, { kind }) => `repeated ${namedOperation(kind)} of ${subject_name}`,
  'offload.remove': ({ subject_name }) => `switched off the file offload of ${subject_name}`,
  'offload.update': ({ subject_name }, { bucket }) =>
    `changed the file offload of ${subject_name}${text(bucket) ? ` to the bucket ${bucket}` : ''}`,
  'ssh_key.create': ({ subject_name }) => `added the SSH key ${subject_name}`,
  'ssh_key.delete': ({ subject_name }) => `removed the SSH key ${subject_name}`,
  'credential.create': ({ subject_name }, { read_only, of }) =>
    `created the API credential ${subject_name}${text(of) ? ` of ${of}` : ''}${read_only === true ? ' (read-only)' : ''}`,
  'credential.revoke': ({ subject_name }, { of }) =>
    `revoked the API credential ${subject_name}${text(of) ? ` of ${of}` : ''}`,
  'session.create': (_, { second_factor, passkey }) => {
    if (passkey === true) return 'signed in with a passkey';
    return second_factor === undefined ? 'signed in' : 'signed in with a second factor';
  },
  'session.end': (entry, { sessions, signed_out }) =>
    signed_out === true
      ? 'signed out'
      : `ended ${typeof sessions === 'number' ? counted(sessions, 'other session') : 'a session'}${ofSubject(entry)}`,
  'password.link': ({ subject_name }) => `created a password link for ${subject_name}`,
  'password.set': (entry) => `set ${isOwn(entry) ? 'a password' : possessive(entry, 'password')}`,
  'password.change': (entry) => `changed ${possessive(entry, 'password')}`,
  'second_factor.enable': (entry) => `turned on ${possessive(entry, 'second factor')}`,
  'second_factor.disable': (entry) => `turned off ${possessive(entry, 'second factor')}`,
  'second_factor.renew_codes': (entry) => `created new recovery codes${ofSubject(entry)}`,
  'second_factor.refuse': ({ subject_name }, { wrong_codes }) =>
    `entered the password of ${subject_name}, then ${typeof wrong_codes === 'number' ? counted(wrong_codes, 'wrong code') : 'wrong codes'}`,
  'passkey.create': (entry) => `added the passkey ${entry.subject_name}`,
  'passkey.update': (entry) => `renamed a passkey to ${entry.subject_name}`,
  'passkey.delete': (entry) => `removed the passkey ${entry.subject_name}`,
  'passkey.refuse': ({ subject_name }, { of }) =>
    `used the passkey ${subject_name}${text(of) ? ` of ${of}` : ''}, which may have been copied, and was refused`,
  'profile.update': profileUpdate,
  'webhook.create': ({ subject_name }) => `created a webhook to ${subject_name}`,
  'webhook.update': ({ subject_name }, { enabled, secret_rotated }) =>
    enabled === undefined
      ? `${secret_rotated === true ? 'made a new secret for' : 'changed'} the webhook to ${subject_name}`
      : `switched the webhook to ${subject_name} ${enabled === true ? 'on' : 'off'}`,
  'webhook.delete': ({ subject_name }) => `deleted the webhook to ${subject_name}`,
  'webhook.disable': ({ subject_name }) =>
    `switched the webhook to ${subject_name} off because deliveries failed`,
  'webhook.test': ({ subject_name }) => `tested the webhook to ${subject_name}`,
  'webhook.redeliver': ({ subject_name }, { event }) =>
    `redelivered ${text(event) ? `a ${event} event` : 'an event'} to ${subject_name}`,
};

function namedOperation(kind: unknown): string {
  const name = text(kind) ? nameOfKind(kind) : undefined;
  return name === undefined ? 'an operation' : `“${name}”`;
}

/** For actions of a newer or an older server. */
const unknownPredicate = ({ action, subject_name }: EntryFields) => `performed ${action} on ${subject_name}`;

const inSites = (count: unknown): string =>
  typeof count === 'number' ? ` in ${counted(count, 'site')}` : '';
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

const MEANS: Record<Entry['means'], string> = {
  api: 'API',
  portal: 'Portal',
  command_line: 'Command line',
  platform: 'Homeport',
};

/** Returns the source of an entry, with the name of its API credential. */
export function sourceOf({ means, credential_name }: Pick<Entry, 'means' | 'credential_name'>): string {
  return credential_name === null ? MEANS[means] : `${MEANS[means]}, with ${credential_name}`;
}
