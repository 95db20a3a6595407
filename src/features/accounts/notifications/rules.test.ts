import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CATEGORY_NAMES, NOTIFICATION_CATEGORIES } from '../../../lib/notification-categories.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { noticeOf, type OperationFacts } from './notices.ts';
import { nextDigest } from './notify.ts';
import { RULES } from './rules.ts';
import { wordsOf } from './words.ts';

const event = { seq: 7, account_id: 'account', install_id: 'install', subject_id: 'thing' };
const names = new Map([['install', 'shop']]);

function operation(type: string, kind: string, facts: Partial<OperationFacts> = {}) {
  const known: OperationFacts = {
    ...{ id: 'thing', starter: null, error_code: null, reason: null },
    ...{ install_name: 'shop', is_checkpoint: false, ...facts },
  };
  return noticeOf(
    { ...event, type, data: { operation_id: 'thing', kind } },
    new Map([['thing', known]]),
    names,
  );
}

describe('the rules', () => {
  it('are about known events and use every category', () => {
    const rules = [...RULES.values()];
    expect(rules.filter((rule) => !EVENT_TYPES.includes(rule.event))).toEqual([]);
    expect(new Set(rules.map(({ category }) => category))).toEqual(new Set(CATEGORY_NAMES));
  });

  it('are documented', () => {
    const guide = readFileSync(new URL('../../../../docs/customers.md', import.meta.url), 'utf8');
    const lines = CATEGORY_NAMES.map((name) => NOTIFICATION_CATEGORIES[name]).map(
      ({ title, description, email }) => `| ${title} | ${description} | ${email} |`,
    );
    expect(lines.filter((line) => !guide.includes(line))).toEqual([]);
  });

  it('count the failures of an install by kind', () => {
    const notice = operation('operation.failed', 'backup.create', { reason: 'The disk is full.' });
    expect(notice).toMatchObject({ problem: 'operation.failed:backup.create', subject: 'install' });
    expect(notice?.facts).toEqual({
      kind: 'backup.create',
      operation_id: 'thing',
      reason: 'The disk is full.',
    });
    expect(notice?.rule).toMatchObject({ category: 'backups', audience: 'people' });
  });

  it('leave out what people watch, and parts of other work', () => {
    expect(operation('operation.failed', 'cache.purge')).toBeNull();
    expect(operation('operation.succeeded', 'install.create')).toBeNull();
    expect(operation('operation.succeeded', 'backup.create', { is_checkpoint: true })).toBeNull();
  });

  it('leave the first email to features with their own', () => {
    const mailed = (type: string, data: Record<string, string>) =>
      noticeOf({ ...event, type, data }, new Map(), names)?.ownersAreMailed;
    expect(mailed('usage.limit_reached', { limited: 'visitors' })).toBe(true);
    expect(mailed('certificate.expiring', { source: 'THIRD_PARTY' })).toBe(true);
    expect(mailed('certificate.expiring', { source: 'LETS_ENCRYPT' })).toBe(false);
    const rolledBack = { error_code: 'rolled_back' };
    expect(operation('operation.failed', 'wordpress.update', rolledBack)?.ownersAreMailed).toBe(true);
    const started = { ...rolledBack, starter: 'ada' };
    expect(operation('operation.failed', 'wordpress.update', started)?.ownersAreMailed).toBe(false);
  });
});

describe('the words', () => {
  const row = {
    ...{ account_id: 'account', install_id: 'install', install_name: 'shop', subject: 'thing' },
    ...{ problem: 'domain.unreachable', facts: { name: 'example.com' } },
  };

  it('name the thing, the page and the reason', () => {
    expect(wordsOf(row)).toEqual({
      title: 'The domain example.com no longer leads to shop',
      message: null,
      severity: 'error',
      path: '/installs/install/domains',
    });
    const usage = { problem: 'usage.limit_reached', facts: { threshold: 80, limited: 'visitors' } };
    expect(wordsOf({ ...row, ...usage, install_id: null })).toMatchObject({
      title: 'The account has used 80 % of its visits',
      path: '/accounts/account/usage',
    });
  });

  it('name no one of many', () => {
    expect(wordsOf({ ...row, subject: '', install_id: null, install_name: null })).toMatchObject({
      title: 'Domains no longer lead to their websites',
      path: '/accounts/account/installs?status=attention',
    });
  });
});

it('the daily email goes out at 7:00 UTC', () => {
  expect(nextDigest(new Date('2026-05-10T06:59:59Z'))).toBe('2026-05-10T07:00:00.000Z');
  expect(nextDigest(new Date('2026-05-10T07:00:00Z'))).toBe('2026-05-11T07:00:00.000Z');
});
