import type { NotificationCategory } from '../../../lib/notification-categories.ts';
import type { OperationKind } from '../../../lib/operation.ts';
import type { EventType } from '../events/event-types.ts';

/** The outcome that a notification reports. */
export const SEVERITIES = ['error', 'warning', 'success'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The words and the audience of notifications about an event. */
export interface Rule {
  event: EventType;
  /** Of events of operations. */
  kind?: OperationKind;
  category: NotificationCategory;
  severity: Severity;
  /** Names in braces are facts of the event; `{install}` is the name of the install. */
  title: string;
  /** The title for many things together. */
  many: string;
  /** Advice for the user if the event has no reason. */
  message?: string;
  /** The page of the portal: a part of the install's pages, or of the account's with `account/`. */
  page: string;
  /** `people`: all who see the install, or for work that a person started, that person and the owners; `starter`: that person alone. */
  audience: 'people' | 'starter';
}

interface OperationWords {
  category?: NotificationCategory;
  failed: readonly [title: string, many: string];
  /** Without it, no one is notified of success. */
  finished?: readonly [title: string, many: string];
  page?: string;
}

/** Null: the person who started the work watches it, or another event reports the problem. */
const OPERATIONS: Record<OperationKind, OperationWords | null> = {
  'install.create': {
    failed: ['The install {install} could not be created', 'Installs could not be created'],
  },
  'install.apply': {
    failed: ['Settings of {install} could not be applied', 'Settings of installs could not be applied'],
  },
  'install.copy': {
    failed: ['The copy into {install} failed', 'Copies into installs failed'],
    finished: ['The copy into {install} is finished', 'Copies into installs are finished'],
  },
  'install.import': {
    failed: ['The import into {install} failed', 'Imports into installs failed'],
    finished: ['The import into {install} is finished', 'Imports into installs are finished'],
  },
  'install.delete': {
    failed: ['The install {install} could not be deleted', 'Installs could not be deleted'],
  },
  'backup.create': {
    category: 'backups',
    failed: ['The backup of {install} failed', 'Backups of installs failed'],
    finished: ['The backup of {install} is finished', 'Backups of installs are finished'],
    page: 'backups',
  },
  'backup.restore': {
    category: 'backups',
    failed: ['The restore of {install} failed', 'Restores of installs failed'],
    finished: ['The restore of {install} is finished', 'Restores of installs are finished'],
    page: 'backups',
  },
  'backup.delete': {
    category: 'backups',
    failed: ['A backup of {install} could not be deleted', 'Backups of installs could not be deleted'],
    page: 'backups',
  },
  'archive.create': {
    category: 'backups',
    failed: ['The archive of {install} could not be made', 'Archives of installs could not be made'],
    finished: ['The archive of {install} is ready', 'Archives of installs are ready'],
    page: 'backups',
  },
  'domain.check': null,
  'certificate.order': null,
  'cache.purge': null,
  'install.restart_php': null,
  'offload.configure': {
    failed: ['The offload of {install} could not be changed', 'The offload of installs could not be changed'],
    page: 'offload',
  },
  'wordpress.read': null,
  'wordpress.update': {
    failed: ['The update of {install} failed', 'Updates of installs failed'],
    page: 'wordpress',
  },
  'wordpress.change': {
    failed: [
      'A change of plugins or themes of {install} failed',
      'Changes of plugins or themes of installs failed',
    ],
    page: 'wordpress',
  },
  'install.update_php': {
    failed: ['PHP of {install} could not be updated', 'PHP of installs could not be updated'],
    page: 'settings',
  },
  'install.update_php_limits': {
    failed: ['PHP limits of {install} could not be changed', 'PHP limits of installs could not be changed'],
    page: 'settings',
  },
  'install.move': null,
  'wordpress.cli': null,
  'site.transfer': {
    failed: ['The transfer of a site failed', 'Transfers of sites failed'],
    page: 'account/transfers',
  },
};

const OTHERS: readonly Rule[] = [
  {
    event: 'incident.started',
    category: 'uptime',
    severity: 'error',
    title: 'The website of {install} is down',
    many: 'Websites are down',
    page: '',
    audience: 'people',
  },
  {
    event: 'incident.ended',
    category: 'uptime',
    severity: 'success',
    title: 'The website of {install} is up again',
    many: 'Websites are up again',
    page: '',
    audience: 'people',
  },
  {
    event: 'domain.unreachable',
    category: 'domains',
    severity: 'error',
    title: 'The domain {name} no longer leads to {install}',
    many: 'Domains no longer lead to their websites',
    page: 'domains',
    audience: 'people',
  },
  {
    event: 'certificate.failed',
    category: 'certificates',
    severity: 'error',
    title: 'No certificate could be issued for {name}',
    many: 'Certificates could not be issued',
    page: 'domains',
    audience: 'people',
  },
  {
    event: 'certificate.expiring',
    category: 'certificates',
    severity: 'warning',
    title: 'The certificate of {name} expires soon',
    many: 'Certificates expire soon',
    page: 'domains',
    audience: 'people',
  },
  {
    event: 'usage.limit_reached',
    category: 'usage',
    severity: 'warning',
    title: 'The account has used {threshold} % of its {limited}',
    many: 'The account has reached several limits',
    page: 'account/usage',
    audience: 'people',
  },
  {
    event: 'install.limit_reached',
    category: 'usage',
    severity: 'warning',
    title: '{install} has reached {threshold} % of its limit of {limited}',
    many: 'Installs have reached limits of their files',
    message:
      'At 100 %, uploads fail, and backups may fail. Delete files that the website does not need, or ask your provider for more space.',
    page: 'usage',
    audience: 'people',
  },
  {
    event: 'webhook.disabled',
    category: 'webhooks',
    severity: 'error',
    title: 'A webhook of the account was switched off',
    many: 'Webhooks of the account were switched off',
    page: 'account/webhooks',
    audience: 'people',
  },
];

function isKind(text: string): text is OperationKind {
  return Object.hasOwn(OPERATIONS, text);
}

function rulesOf(kind: OperationKind): Rule[] {
  const words = OPERATIONS[kind];
  if (words === null) return [];
  const { category = 'operations', failed, finished, page = '' } = words;
  const failure: Rule = {
    event: 'operation.failed',
    kind,
    category,
    severity: 'error',
    title: failed[0],
    many: failed[1],
    page,
    audience: 'people',
  };
  if (finished === undefined) return [failure];
  const [title, many] = finished;
  const success: Rule = { ...failure, event: 'operation.succeeded', category: 'finished', title, many };
  return [failure, { ...success, severity: 'success', audience: 'starter' }];
}

/** The name of a rule. Events with the same name and subject are counted together. */
export const problemOf = ({ event, kind }: Pick<Rule, 'event' | 'kind'>): string =>
  kind === undefined ? event : `${event}:${kind}`;

/** Every rule by its name. Validation, the API, emails and the portal use this table alone. */
export const RULES: ReadonlyMap<string, Rule> = new Map(
  [...Object.keys(OPERATIONS).filter(isKind).flatMap(rulesOf), ...OTHERS].map((rule) => [
    problemOf(rule),
    rule,
  ]),
);

/** The types of events that can be notifications. */
export const NOTIFIED_TYPES: ReadonlySet<string> = new Set([...RULES.values()].map(({ event }) => event));
