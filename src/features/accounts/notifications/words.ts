import type { StoredNotification } from './inbox-store.ts';
import { RULES, type Severity } from './rules.ts';

/** The words of a notification, and the page of the portal that shows more. */
export interface Words {
  title: string;
  /** Why, in one sentence; null if the title says all. */
  message: string | null;
  severity: Severity;
  /** Path of the page, below the portal's address. */
  path: string;
}

const NAMES: Record<string, string> = { visitors: 'visits', disk: 'disk space' };

/** The words of a notification. */
export function wordsOf(
  row: Pick<StoredNotification, 'problem' | 'subject' | 'install_id' | 'install_name' | 'account_id'> & {
    facts: Readonly<Record<string, string | number | null>>;
  },
): Words {
  const { problem, subject, install_id, install_name, account_id, facts } = row;
  const rule = RULES.get(problem);
  const account = `/accounts/${account_id}`;
  // Another version of Homeport has stored it.
  if (rule === undefined)
    return { title: 'Something changed', message: null, severity: 'warning', path: `${account}/activity` };
  const { severity, page } = rule;
  const { reason } = facts;
  const [, ofAccount] = page.split('account/');
  if (subject === '') {
    const path = ofAccount === undefined ? `${account}/installs?status=attention` : `${account}/${ofAccount}`;
    return { title: rule.many, message: null, severity, path };
  }
  const ofInstall = install_id === null ? account : `/installs/${install_id}${page && `/${page}`}`;
  return {
    title: filled(rule.title, { ...facts, install: install_name ?? 'an install' }),
    message: typeof reason === 'string' && reason !== '' ? reason : (rule.message ?? null),
    severity,
    path: ofAccount === undefined ? ofInstall : `${account}/${ofAccount}`,
  };
}

function filled(text: string, facts: Readonly<Record<string, string | number | null>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const fact = String(facts[name] ?? '');
    return NAMES[fact] ?? fact;
  });
}
