/** One change as the server tells it (`/portal/api/events`). */
export interface Change {
  topic: string;
  account_id: string | null;
  install_id: string | null;
  /** Of the thing itself. */
  id: string | null;
}

/** What else is shown with a thing, and is loaded under that other topic. */
const SHOWN_WITH: Record<string, readonly string[]> = {
  install: ['site'],
  account: ['session'],
  member: ['session'],
};

/** A change as it was sent, or null if it is none. */
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

/** Whether what is kept under a key may be changed by it. */
export function concerns(change: Change, key: readonly unknown[]): boolean {
  const [topic, id] = key;
  if (topic === 'session') return SHOWN_WITH[change.topic]?.includes('session') ?? false;
  const topics = [change.topic, ...(SHOWN_WITH[change.topic] ?? [])];
  if (typeof topic !== 'string' || !topics.includes(topic)) return false;
  return (
    id === undefined ||
    topic !== change.topic ||
    [change.account_id, change.install_id, change.id].includes(String(id))
  );
}
