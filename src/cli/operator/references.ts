import type { Services } from '../../app/services.ts';
import { domainsNamed, type NamedDomain } from '../../features/domains/domains/named-domains-store.ts';
import { findWebsite } from '../../features/websites/installs/website-store.ts';
import { everySite } from '../../features/websites/tags/every-site-store.ts';
import { NotFound } from '../../lib/failures.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { namedAccount } from '../commands/named-account.ts';
import { printable } from '../terminal/output.ts';
import type { SubjectKind } from './commands.ts';

/** A thing that a command is about: its identifiers in the path of the operation, and its name for people. */
export interface Subject {
  ids: Record<string, string>;
  name: string;
}

/** The account or the install of a thing, if several things have its name. */
export interface Within {
  account?: string;
  install?: string;
}

export interface Found {
  platform: Platform;
  services: Services;
}

/** Finds the thing that an argument names. Throws OperatorError without exactly one. */
export async function findSubject(
  kind: SubjectKind,
  text: string,
  within: Within,
  found: Found,
): Promise<Subject> {
  switch (kind) {
    case 'account': {
      const { id, name } = await accountNamed(text, found);
      return { ids: { account_id: id }, name };
    }
    case 'site': {
      const { id, name } = await siteNamed(text, within.account, found);
      return { ids: { site_id: id }, name };
    }
    case 'install': {
      const { id, name } = await installNamed(text, found);
      return { ids: { install_id: id }, name };
    }
    case 'domain': {
      const { id, name, install_id } = await domainNamed(text, within.install, found);
      return { ids: { install_id, domain_id: id }, name };
    }
    case 'backup':
      return backupWithId(text, found);
    case 'user':
      return memberNamed(text, within.account, found);
    case 'operation':
      return { ids: { operation_id: idOf(text, 'operation', 'homeport operation list') }, name: text };
  }
}

export async function accountNamed(text: string | undefined, { services }: Found) {
  const all = await services.accounts.listAll();
  if (text !== undefined) return namedAccount(all, text);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  throw new OperatorError(
    only === undefined
      ? 'There is no account yet. Create one with "homeport account create".'
      : 'There are several accounts. Name one with --account ("homeport account list").',
  );
}

export async function siteNamed(text: string, account: string | undefined, found: Found) {
  const accountId = account === undefined ? null : (await accountNamed(account, found)).id;
  const id = parseUuid(text);
  const all = await everySite(found.platform.database.reader, { accountId, key: null });
  const meant = all.filter((site) => (id === undefined ? site.name === text : site.id === id));
  return onlyOne(meant, {
    none: `There is no site "${printable(text)}"; list them with "homeport site list".`,
    several: `There are ${meant.length} sites named "${printable(text)}". Use the id of one ("homeport site list").`,
  });
}

export async function installNamed(text: string, { platform }: Found) {
  const id = parseUuid(text);
  const install = await findWebsite(platform.database.reader, id === undefined ? { name: text } : { id });
  if (install) return install;
  throw new OperatorError(
    `There is no install "${printable(text)}"; list them with "homeport install list".`,
  );
}

async function domainNamed(text: string, install: string | undefined, found: Found): Promise<NamedDomain> {
  const of = install === undefined ? undefined : await installNamed(install, found);
  const all = await domainsNamed(found.platform.database.reader, text);
  const meant = all.filter((domain) => of === undefined || domain.install_id === of.id);
  return onlyOne(meant, {
    none: `There is no domain "${printable(text)}"${of === undefined ? '' : ` on ${of.name}`}; list those of an install with "homeport domain list INSTALL".`,
    several: `Several installs have the domain "${printable(text)}": ${meant.map(({ install_name }) => install_name).join(', ')}. Name one with --install.`,
  });
}

/** A domain of the same install, for a redirect. */
export async function siblingDomain(text: string, installId: string, found: Found): Promise<string> {
  const all = await domainsNamed(found.platform.database.reader, text);
  const meant = all.find((domain) => domain.install_id === installId);
  if (meant) return meant.id;
  throw new OperatorError(`The install has no domain "${printable(text)}" to redirect to.`);
}

async function backupWithId(text: string, { services }: Found): Promise<Subject> {
  const id = idOf(text, 'backup', 'homeport backup list');
  const backup = await services.backups.find(id).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new OperatorError(`There is no backup ${id}. List them with "homeport backup list".`);
  });
  return { ids: { install_id: backup.install_id, backup_id: id }, name: id };
}

async function memberNamed(text: string, account: string | undefined, found: Found): Promise<Subject> {
  const person = await found.services.accountUsers.findPerson(text);
  if (!person) {
    throw new OperatorError(
      `There is no user with the address ${printable(text)}. List users with "homeport user list".`,
    );
  }
  const of = account === undefined ? undefined : await accountNamed(account, found);
  const { id } = onlyOne(
    person.accounts.filter((one) => of === undefined || one.id === of.id),
    {
      none: `${person.email} is in no ${of === undefined ? 'account' : `account ${printable(of.name)}`}.`,
      several: `${person.email} is in ${person.accounts.length} accounts. Name one with --account.`,
    },
  );
  return { ids: { account_id: id, user_id: person.id }, name: person.email };
}

function idOf(text: string, kind: string, list: string): string {
  const id = parseUuid(text);
  if (id !== undefined) return id;
  throw new OperatorError(`"${printable(text)}" is not the id of a ${kind}; list them with "${list}".`);
}

function onlyOne<Item>(meant: Item[], { none, several }: { none: string; several: string }): Item {
  const [only] = meant;
  if (only === undefined) throw new OperatorError(none);
  if (meant.length > 1) throw new OperatorError(several);
  return only;
}
