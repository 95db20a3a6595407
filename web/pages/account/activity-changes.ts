import { environmentLabel, environmentOf } from '../../components/environments.ts';
import { truncate } from '../../components/truncate.ts';
import {
  counted,
  type Details,
  type EntryFields,
  isOwn,
  joined,
  LONGEST_NAME,
  possessive,
  renamed,
  text,
} from './activity-words.ts';
import { parseRoles, roleLabel } from './roles.ts';

export function protectionChange({ password, new_password, username, ...others }: Details): string {
  if (Object.keys(others).length > 0) return 'changed the protection';
  if (password === 'on' || password === 'off') return `turned ${password} the password for visitors`;
  return new_password === true || username !== undefined
    ? 'changed the password for visitors'
    : 'changed the protection';
}

export function profileUpdate(entry: EntryFields, { from, to, is_operator }: Details): string {
  if (is_operator === true) return `made ${entry.subject_name} an operator of the platform`;
  if (is_operator === false)
    return `ended the rights of ${entry.subject_name} as an operator of the platform`;
  if (!text(from) || !text(to)) return `changed ${possessive(entry, 'profile')}`;
  return isOwn(entry)
    ? `changed their email address from ${from} to ${to}`
    : `changed the email address of ${from} to ${to}`;
}

export function accountUserRemove(
  { subject_id, subject_name, user_id }: EntryFields,
  { self, declined }: Details,
): string {
  if (declined === true) return 'declined the invitation';
  const left = self === true || (subject_id !== null && subject_id === user_id);
  return left ? 'left the account' : `removed ${subject_name}`;
}

export function accountUpdate(
  { subject_name }: EntryFields,
  { from, to, nickname, requires_second_factor }: Details,
): string {
  const parts = [
    ...(text(to) ? [renamed(`the account ${from ?? subject_name}`, String(to))] : []),
    ...(nickname === undefined
      ? []
      : [
          text(nickname)
            ? `gave the account the nickname ${nickname}`
            : 'removed the nickname of the account',
        ]),
    ...(requires_second_factor === undefined
      ? []
      : [requires_second_factor ? 'required a second factor' : 'stopped requiring a second factor']),
  ];
  return joined(parts, `changed the account ${subject_name}`);
}

export function siteUpdate(
  { subject_name }: EntryFields,
  { from, to, sandbox, transferable, tags }: Details,
): string {
  const parts = [
    ...(text(to) ? [renamed(`the site ${from ?? subject_name}`, String(to))] : []),
    ...(sandbox === undefined
      ? []
      : [`marked the site ${to ?? subject_name} as ${sandbox ? 'a sandbox' : 'not a sandbox'}`]),
    ...(transferable === undefined
      ? []
      : [`marked the site ${to ?? subject_name} as ${transferable ? 'transferable' : 'not transferable'}`]),
    ...(typeof tags === 'string'
      ? [
          tags === ''
            ? `removed all tags of the site ${to ?? subject_name}`
            : `set the tags of the site ${to ?? subject_name} to ${tags}`,
        ]
      : []),
  ];
  return joined(parts, `changed the site ${subject_name}`);
}

export function accountUserUpdate({ subject_name }: EntryFields, { roles, installs }: Details): string {
  const parts = [
    ...(text(roles) ? [`made ${subject_name} ${roleLabel(parseRoles(String(roles)))}`] : []),
    ...(typeof installs === 'number' ? [`gave ${subject_name} ${counted(installs, 'install')}`] : []),
  ];
  return joined(parts, `changed ${subject_name}`);
}

/** Names what is updated: `: WordPress 6.8.3, plugins Akismet 5.4`. */
export function updatedItems({ core, plugins, themes }: Details): string {
  const parts = [
    ...(text(core) ? [core === 'newest' ? 'WordPress' : `WordPress ${core}`] : []),
    ...(text(plugins) ? [plugins === 'all' ? 'all plugins' : `plugins ${plugins}`] : []),
    ...(text(themes) ? [themes === 'all' ? 'all themes' : `themes ${themes}`] : []),
  ];
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}

/** "requested to activate the plugin akismet": what a user asked for. */
export function itemChange({ kind, item, installed, status, auto_update, keep }: Details): string {
  const named = `the ${kind === 'theme' ? 'theme' : 'plugin'}${text(item) ? ` ${item}` : ''}`;
  const automatic =
    auto_update === undefined ? [] : [`switch automatic updates ${auto_update === true ? 'on' : 'off'} for`];
  const verbs = [
    ...(installed === true ? ['install'] : []),
    ...(status === 'active' ? ['activate'] : []),
    ...(status === 'inactive' ? ['deactivate'] : []),
    ...(status === 'deleted' ? ['delete'] : []),
    ...automatic,
  ];
  const lasting = keep === true ? ', even if pages look different' : '';
  return `requested to ${verbs.join(' and ') || 'change'} ${named}${lasting}`;
}

export function installUpdate(
  { subject_name }: EntryFields,
  { site, environment, defer_wordpress_upgrades_until: deferral }: Details,
): string {
  const slot = text(environment) ? environmentLabel(environmentOf(environment)) : null;
  if (text(site))
    return `moved the install ${subject_name} into the site ${site}${slot ? ` as ${slot}` : ''}`;
  if (site === null) return `detached the install ${subject_name} from its site`;
  if (environment === null) return `removed the environment of the install ${subject_name}`;
  if (slot) return `made the install ${subject_name} ${slot}`;
  if (text(deferral))
    return `deferred upgrades of WordPress of ${subject_name} until ${deferral.slice(0, 10)}`;
  if (deferral === null) return `ended the deferral of WordPress upgrades of ${subject_name}`;
  return `changed the install ${subject_name}`;
}

export function domainUpdate(
  { subject_name }: EntryFields,
  { primary, redirect_to, secure_all_urls }: Details,
): string {
  const parts = [
    ...(primary === undefined
      ? []
      : [`made ${subject_name} ${primary ? 'the primary domain' : 'a secondary domain'}`]),
    ...(redirect_to === undefined
      ? []
      : [
          redirect_to === null
            ? `ended the redirect of ${subject_name}`
            : `redirected ${subject_name} to ${redirect_to}`,
        ]),
    ...(secure_all_urls === undefined
      ? []
      : [`turned ${secure_all_urls ? 'on' : 'off'} the redirect to HTTPS for ${subject_name}`]),
  ];
  return joined(parts, `changed the domain ${subject_name}`);
}

/** "3 files and folders and 1 table of "; null if neither was chosen. */
export function chosenParts(paths: unknown, tables: unknown): string | null {
  const parts = [
    typeof paths === 'number' ? (paths === 1 ? '1 file or folder' : `${paths} files and folders`) : '',
    typeof tables === 'number' ? counted(tables, 'table') : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : `${parts.join(' and ')} of `;
}

/** The part of a backup that was restored, if not all of it. */
export function partOf(files: unknown, database: unknown): string {
  if (files === false) return 'the database of ';
  return database === false ? 'the files of ' : '';
}

/** Names the caches or pages that a purge emptied. */
export function purgedPart({ type, paths, path_count }: Details): string {
  if (type === 'all') return 'all caches';
  if (!text(paths)) return text(type) ? `the ${type} cache` : 'the cache';
  if (path_count === 1) return `the page ${truncate(paths, LONGEST_NAME)}`;
  return `${path_count} pages (${truncate(paths, LONGEST_NAME)})`;
}
