import { INSTALL_LIST } from '../api/query-keys.ts';

/** A change in the server's stream (`/portal/api/events`). */
export interface Change {
  topic: string;
  account_id: string | null;
  install_id: string | null;
  /** ID of the changed resource. */
  id: string | null;
}

/** Other topics whose pages show resources of a topic, too. */
const SHOWN_WITH: Record<string, readonly string[]> = {
  site: ['onboarding'],
  install: ['site', 'attention', 'onboarding'],
  domain: ['attention', 'onboarding'],
  backup: ['attention', 'onboarding'],
  account: ['session'],
  member: ['session', 'onboarding'],
  // Each change of these is an entry in the activity log.
  activity: ['webhook', 'update-policy'],
};

/** Topics that {@link SHOWN_WITH} adds, and whose queries have the ID of an account. */
const OF_ACCOUNTS = ['attention'];

/** Parses a change; null if the text is not one. */
export function parseChange(text: string): Change | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const member = (name: string) => {
      const found: unknown = Reflect.get(value, name);
      return typeof found === 'string' ? found : null;
    };
    const topic = member('topic');
    return topic === null
      ? null
      : { topic, account_id: member('account_id'), install_id: member('install_id'), id: member('id') };
  } catch {
    return null;
  }
}

/** Returns whether a change may affect the query with this key. */
export function concerns(change: Change, key: readonly unknown[]): boolean {
  const [topic, id, part] = key;
  if (topic === 'session') return SHOWN_WITH[change.topic]?.includes('session') ?? false;
  const isInList = part === INSTALL_LIST && ['domain', 'backup', 'site'].includes(change.topic);
  if (isInList) return id === change.account_id;
  const topics = [change.topic, ...(SHOWN_WITH[change.topic] ?? [])];
  if (typeof topic !== 'string' || !topics.includes(topic)) return false;
  if (topic !== change.topic) return !OF_ACCOUNTS.includes(topic) || id === change.account_id;
  return id === undefined || [change.account_id, change.install_id, change.id].includes(String(id));
}
