import type { Entry } from '../../api/activity.ts';
import { environmentLabel, environmentOf } from '../../components/environments.ts';
import { truncate } from '../../components/truncate.ts';
import { nameAndAddress } from './person-name.ts';
import { parseRoles, roleLabel } from './roles.ts';

/** Backups are called by descriptions, which may be long; the file of the activity has them whole. */
const LONGEST_NAME = 120;

type EntryFields = Pick<
  Entry,
  'action' | 'subject_id' | 'subject_name' | 'user_id' | 'user_name' | 'details'
>;
type Details = NonNullable<Entry['details']>;

/** What somebody did, in one sentence without its full stop: "Frida Full added the domain shop.example". */
export function sentenceOf(entry: EntryFields): string {
  const deed = Object.hasOwn(PREDICATES, entry.action) ? PREDICATES[entry.action] : unknownPredicate;
  return `${capital(nameAndAddress(entry.user_name).name)} ${deed(entry, entry.details ?? {})}`;
}

const PREDICATES: Record<Entry['action'], (entry: EntryFields, details: Details) => string> = {
  'account.create': ({ subject_name }) => `created the account ${subject_name}`,
  'account.update': accountUpdate,
  'account_user.invite': ({ subject_name }, { again, roles }) =>
    again === true ? `invited ${subject_name} again` : `invited ${subject_name}${asRoles(roles)}`,
  'account_user.add': ({ subject_name }, { roles }) => `added ${subject_name}${asRoles(roles)}`,
  'account_user.accept': () => 'accepted the invitation',
  'account_user.update': accountUserUpdate,
  'account_user.remove': accountUserRemove,
  'site.create': ({ subject_name }) => `created the site ${subject_name}`,
  'site.update': ({ subject_name }, { from, to }) =>
    renamed(`the site ${from ?? subject_name}`, String(to ?? subject_name)),
  'site.delete': ({ subject_name }) => `deleted the site ${subject_name}`,
  'install.create': ({ subject_name }, { site }) =>
    `created the install ${subject_name}${text(site) ? ` in the site ${site}` : ''}`,
  'install.update': installUpdate,
  'install.delete': ({ subject_name }) => `deleted the install ${subject_name}`,
  'install.switch_core': ({ subject_name }, { to }) =>
    `switched the install ${subject_name} to WordPress ${to ?? 'of another version'}`,
  'install.copy': ({ subject_name }, { to, backup_kept }) =>
    `copied the install ${subject_name}${text(to) ? ` into ${to}` : ''}${backup_kept === true ? ' and kept the backup' : ''}`,
  'domain.create': ({ subject_name }) => `added the domain ${subject_name}`,
  'domain.update': domainUpdate,
  'domain.delete': ({ subject_name }) => `removed the domain ${subject_name}`,
  'domain.verify': ({ subject_name }) => `verified the domain ${subject_name} by its TXT record`,
  'domain.lose': ({ subject_name }) =>
    `withdrew the domain ${subject_name}, because another account proved that it owns it`,
  'backup.create': ({ subject_name }) => `asked for the backup “${truncate(subject_name, LONGEST_NAME)}”`,
  'backup.restore': ({ subject_name }, { from, to }) =>
    `restored the backup “${truncate(subject_name, LONGEST_NAME)}”${from === to || !text(to) ? '' : ` of ${from} into ${to}`}`,
  'cache.purge': ({ subject_name }, { type }) =>
    `emptied the ${text(type) ? `${type} cache` : 'cache'} of ${subject_name}`,
  'offload.update': ({ subject_name }, { bucket }) =>
    `changed where the files of ${subject_name} are kept${text(bucket) ? `, to the bucket ${bucket}` : ''}`,
  'ssh_key.create': ({ subject_name }) => `added the SSH key ${subject_name}`,
  'ssh_key.delete': ({ subject_name }) => `removed the SSH key ${subject_name}`,
  'credential.create': ({ subject_name }, { read_only, of }) =>
    `created the API credential ${subject_name}${text(of) ? ` of ${of}` : ''}${read_only === true ? ', which only reads' : ''}`,
  'credential.revoke': ({ subject_name }, { of }) =>
    `revoked the API credential ${subject_name}${text(of) ? ` of ${of}` : ''}`,
  'session.create': (_, { second_factor }) =>
    second_factor === undefined ? 'signed in' : 'signed in with a second factor',
  'session.end': (entry, { sessions, signed_out }) =>
    signed_out === true
      ? 'signed out'
      : `ended ${typeof sessions === 'number' ? counted(sessions, 'other session') : 'a session'}${ofWhom(entry)}`,
  'password.link': ({ subject_name }) => `made a link with which ${subject_name} sets a password`,
  'password.set': (entry) => `set ${isOwn(entry) ? 'a password' : whose(entry, 'password')}`,
  'password.change': (entry) => `changed ${whose(entry, 'password')}`,
  'second_factor.enable': (entry) => `switched ${whose(entry, 'second factor')} on`,
  'second_factor.disable': (entry) => `switched ${whose(entry, 'second factor')} off`,
  'second_factor.renew_codes': (entry) => `made new recovery codes${ofWhom(entry)}`,
  'second_factor.refuse': ({ subject_name }, { wrong_codes }) =>
    `typed the password of ${subject_name}${typeof wrong_codes === 'number' ? `, and ${counted(wrong_codes, 'wrong code')} after it` : ' and wrong codes after it'}`,
  'profile.update': profileUpdate,
};

/** What a newer server has written down, or an older one. */
const unknownPredicate = ({ action, subject_name }: EntryFields) => `did ${action} to ${subject_name}`;

/** Whether somebody did to themselves what is told under their own address. */
function isOwn({ subject_id, subject_name, user_id, user_name }: EntryFields): boolean {
  if (user_id === null) return false;
  const { email } = nameAndAddress(user_name);
  return subject_id === user_id || email === null || email === subject_name;
}

const ofWhom = (entry: EntryFields) => (isOwn(entry) ? '' : ` of ${entry.subject_name}`);
const whose = (entry: EntryFields, what: string) =>
  isOwn(entry) ? `their ${what}` : `the ${what} of ${entry.subject_name}`;

function profileUpdate(entry: EntryFields, { from, to }: Details): string {
  if (!text(from) || !text(to)) return `changed ${whose(entry, 'profile')}`;
  return isOwn(entry)
    ? `changed their e-mail address from ${from} to ${to}`
    : `changed the e-mail address of ${from} to ${to}`;
}

function accountUserRemove(
  { subject_id, subject_name, user_id }: EntryFields,
  { self, declined }: Details,
): string {
  if (declined === true) return 'declined the invitation';
  const left = self === true || (subject_id !== null && subject_id === user_id);
  return left ? 'left the account' : `removed ${subject_name}`;
}

function accountUpdate({ subject_name }: EntryFields, { from, to, requires_second_factor }: Details): string {
  const parts = [
    ...(text(to) ? [renamed(`the account ${from ?? subject_name}`, String(to))] : []),
    ...(requires_second_factor === undefined
      ? []
      : [requires_second_factor ? 'demanded a second factor' : 'demanded a second factor no longer']),
  ];
  return joined(parts, `changed the account ${subject_name}`);
}

function accountUserUpdate({ subject_name }: EntryFields, { roles, installs }: Details): string {
  const parts = [
    ...(text(roles) ? [`made ${subject_name} ${roleLabel(parseRoles(String(roles)))}`] : []),
    ...(typeof installs === 'number' ? [`gave ${subject_name} ${counted(installs, 'install')}`] : []),
  ];
  return joined(parts, `changed ${subject_name}`);
}

function installUpdate({ subject_name }: EntryFields, { site, environment }: Details): string {
  const slot = text(environment) ? environmentLabel(environmentOf(environment)) : null;
  if (text(site))
    return `moved the install ${subject_name} into the site ${site}${slot ? ` as ${slot}` : ''}`;
  if (site === null) return `took the install ${subject_name} out of its site`;
  if (environment === null) return `took the environment from the install ${subject_name}`;
  return slot ? `made the install ${subject_name} ${slot}` : `changed the install ${subject_name}`;
}

function domainUpdate(
  { subject_name }: EntryFields,
  { primary, redirect_to, secure_all_urls }: Details,
): string {
  const parts = [
    ...(primary === undefined
      ? []
      : [`made ${subject_name} ${primary ? 'the primary domain' : 'no primary domain'}`]),
    ...(redirect_to === undefined
      ? []
      : [
          redirect_to === null
            ? `ended the redirect of ${subject_name}`
            : `redirected ${subject_name} to ${redirect_to}`,
        ]),
    ...(secure_all_urls === undefined
      ? []
      : [`switched HTTPS for all addresses of ${subject_name} ${secure_all_urls ? 'on' : 'off'}`]),
  ];
  return joined(parts, `changed the domain ${subject_name}`);
}

const renamed = (what: string, to: string) => `renamed ${what} to ${to}`;
const joined = (parts: string[], otherwise: string) => (parts.length === 0 ? otherwise : parts.join(' and '));
const text = (value: unknown): value is string => typeof value === 'string' && value !== '';
const asRoles = (roles: unknown) => (text(roles) ? ` as ${roleLabel(parseRoles(roles))}` : '');
const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

const MEANS: Record<Entry['means'], string> = {
  api: 'API',
  portal: 'Portal',
  command_line: 'Command line',
  platform: 'Homeport itself',
};

/** By which way it was done, and with which credential. */
export function sourceOf({ means, credential_name }: Pick<Entry, 'means' | 'credential_name'>): string {
  return credential_name === null ? MEANS[means] : `${MEANS[means]}, with ${credential_name}`;
}
