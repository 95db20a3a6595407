import type { EndpointId } from '../../../packages/client/src/types.ts';
import type { OperationKind } from '../../lib/operation.ts';
import type { Endpoint, Field } from '../api/endpoints.ts';
import { printable } from '../terminal/output.ts';
import { uptimeLines } from './uptime-lines.ts';

/** The kind of thing that the first argument of a command names. */
export type SubjectKind = 'account' | 'site' | 'install' | 'domain' | 'backup' | 'user' | 'operation';

/** An operation of the API as a command of the operator. Arguments, options and the body follow from the description. */
export interface OperatorCommand {
  group: string;
  name: string;
  /** An operation of the API, or of the portal. */
  operation: EndpointId | 'sendInvitationAgain';
  subject: SubjectKind | null;
  summary: string;
  /** Words after the command. */
  example: string;
  /** Members of the body that no option sets. */
  body?: Readonly<Record<string, unknown>>;
  /** Members of the body that have a value without their option. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Asks before it begins. `effect`: what happens, with `$` for the name of the subject. */
  consent?: { question: string; effect: string };
  /** The outcome for people in place of an empty answer, with `$` for the name of the subject or of the new thing. */
  done?: string;
  /** The kind of operation that it starts without naming it in the answer. */
  starts?: OperationKind;
  /** A server does the rest. */
  needsServer?: true;
  /** The answer for people, if the usual form is not readable. */
  shows?(answer: unknown): string;
  /** The next command, with `$` for the name of the subject or of what was made. */
  next?: string;
}

/** An operation with the members that options set. */
export interface Completed {
  spec: OperatorCommand;
  /** Undefined for operations of the portal. */
  endpoint: Endpoint | undefined;
  /** The member of the body that is the last argument. */
  named: Field | undefined;
}

/** The commands that are operations of the API, by group. */
export const OPERATOR_COMMANDS: readonly OperatorCommand[] = [
  {
    group: 'account',
    name: 'show',
    operation: 'getAccount',
    subject: 'account',
    summary: 'show an account',
    example: '"Harbour Agency"',
  },
  {
    group: 'site',
    name: 'create',
    operation: 'createSite',
    subject: null,
    summary: 'create a site',
    example: '"Harbour Shop" --account "Harbour Agency"',
    next: 'homeport install create NAME --site "$"',
  },
  {
    group: 'site',
    name: 'show',
    operation: 'getSite',
    subject: 'site',
    summary: 'show a site and its installs',
    example: '"Harbour Shop"',
  },
  {
    group: 'site',
    name: 'change',
    operation: 'updateSite',
    subject: 'site',
    summary: 'change the name, the tags or the type of a site',
    example: '"Harbour Shop" --name "Harbour Store"',
  },
  {
    group: 'site',
    name: 'delete',
    operation: 'deleteSite',
    subject: 'site',
    summary: 'delete a site with its installs',
    example: '"Harbour Shop" --yes',
    consent: {
      question: 'Delete the site $, its installs and their websites?',
      effect: 'This deletes the site $ with its installs.',
    },
    done: 'Deleted the site $.',
    needsServer: true,
    next: 'homeport install deleted',
  },
  {
    group: 'install',
    name: 'show',
    operation: 'getInstall',
    subject: 'install',
    summary: 'show an install',
    example: 'harbourcafe',
  },
  {
    group: 'install',
    name: 'change',
    operation: 'updateInstall',
    subject: 'install',
    summary: 'move an install to another site or environment, switch its PHP',
    example: 'harbourcafe --site "Harbour Shop" --environment staging',
  },
  {
    group: 'install',
    name: 'delete',
    operation: 'deleteInstall',
    subject: 'install',
    summary: 'delete an install with its website and domains',
    example: 'harbourcafe --yes',
    consent: {
      question: 'Delete the install $ with its website and domains?',
      effect: 'This deletes the install $ with its website and domains.',
    },
    done: 'Deleted the install $.',
    starts: 'install.delete',
    next: 'homeport install deleted',
  },
  {
    group: 'install',
    name: 'purge',
    operation: 'purgeCache',
    subject: 'install',
    summary: 'empty a cache of an install',
    example: 'harbourcafe --type page',
    done: 'Emptied the cache of $.',
  },
  {
    group: 'install',
    name: 'uptime',
    operation: 'getUptime',
    subject: 'install',
    summary: 'show whether a website answers, and how often it did',
    example: 'harbourcafe',
    shows: uptimeLines,
    next: 'homeport install incidents $',
  },
  {
    group: 'install',
    name: 'incidents',
    operation: 'listIncidents',
    subject: 'install',
    summary: 'list the times in which a website did not answer as it should',
    example: 'harbourcafe --state open',
  },
  {
    group: 'domain',
    name: 'list',
    operation: 'listDomains',
    subject: 'install',
    summary: 'list the domains of an install',
    example: 'harbourcafe',
  },
  {
    group: 'domain',
    name: 'create',
    operation: 'createDomain',
    subject: 'install',
    summary: 'add a domain to an install',
    example: 'harbourcafe shop.example --primary',
    next: 'homeport domain check $',
  },
  {
    group: 'domain',
    name: 'show',
    operation: 'getDomain',
    subject: 'domain',
    summary: 'show a domain with its DNS records and certificate',
    example: 'shop.example',
  },
  {
    group: 'domain',
    name: 'change',
    operation: 'updateDomain',
    subject: 'domain',
    summary: 'make a domain primary, or redirect it',
    example: 'www.shop.example --redirect-to shop.example',
  },
  {
    group: 'domain',
    name: 'check',
    operation: 'checkStatus',
    subject: 'domain',
    summary: 'check a domain from outside: DNS, HTTP and TLS',
    example: 'shop.example',
    shows: reportLines,
  },
  {
    group: 'domain',
    name: 'verify',
    operation: 'verifyDomainTxtRecord',
    subject: 'domain',
    summary: 'look up the TXT record that proves who owns a domain',
    example: 'shop.example',
  },
  {
    group: 'domain',
    name: 'certificates',
    operation: 'getInstallCertificates',
    subject: 'install',
    summary: 'list the certificates of an install',
    example: 'harbourcafe',
  },
  {
    group: 'domain',
    name: 'order-certificate',
    operation: 'createDomainCertificateOrder',
    subject: 'domain',
    summary: 'order a new certificate for a domain',
    example: 'shop.example',
    body: { email_address: '', given_name: '', family_name: '', region_code: '' },
    done: 'The domain $ has a new certificate.',
    next: 'homeport domain show $',
  },
  {
    group: 'domain',
    name: 'delete',
    operation: 'deleteDomain',
    subject: 'domain',
    summary: 'remove a domain from its install',
    example: 'shop.example --yes',
    consent: { question: 'Remove the domain $?', effect: 'This removes the domain $.' },
    done: 'Removed the domain $.',
    starts: 'install.apply',
  },
  {
    group: 'backup',
    name: 'create',
    operation: 'createBackup',
    subject: 'install',
    summary: 'back up an install',
    example: 'harbourcafe --description "before the update"',
    defaults: { description: 'Requested by the operator', notification_emails: [] },
    next: 'homeport backup restore $',
  },
  {
    group: 'backup',
    name: 'show',
    operation: 'showBackup',
    subject: 'backup',
    summary: 'show a backup',
    example: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
  },
  {
    group: 'backup',
    name: 'delete',
    operation: 'deleteBackup',
    subject: 'backup',
    summary: 'delete a backup',
    example: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11 --yes',
    consent: {
      question: 'Delete the backup $? This cannot be undone.',
      effect: 'This deletes the backup $ for good.',
    },
    done: 'Deleted the backup $.',
    starts: 'backup.delete',
  },
  {
    group: 'user',
    name: 'show',
    operation: 'getAccountUser',
    subject: 'user',
    summary: 'show a user in an account',
    example: 'frida@agency.example',
  },
  {
    group: 'user',
    name: 'roles',
    operation: 'updateAccountUser',
    subject: 'user',
    summary: 'change the roles of a user in an account',
    example: 'frida@agency.example --roles partial --install harbourcafe',
  },
  {
    group: 'user',
    name: 'invite-again',
    operation: 'sendInvitationAgain',
    subject: 'user',
    summary: 'send an invitation again; the earlier link stops working',
    example: 'frida@agency.example',
    done: 'The invitation of $ is queued.',
    needsServer: true,
  },
  {
    group: 'user',
    name: 'remove',
    operation: 'deleteAccountUser',
    subject: 'user',
    summary: 'remove a user or an invitation from an account',
    example: 'frida@agency.example --account "Harbour Agency" --yes',
    consent: {
      question: 'Remove $ from the account?',
      effect: 'This removes $ from the account.',
    },
    done: 'Removed $ from the account.',
  },
  {
    group: 'operation',
    name: 'list',
    operation: 'listOperations',
    subject: null,
    summary: 'list operations, oldest first',
    example: '--status failed',
  },
  {
    group: 'operation',
    name: 'show',
    operation: 'getOperation',
    subject: 'operation',
    summary: 'show an operation, and why it failed',
    example: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
  },
  {
    group: 'operation',
    name: 'cancel',
    operation: 'cancelOperation',
    subject: 'operation',
    summary: 'cancel an operation that has not begun or can stop',
    example: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11 --yes',
    consent: { question: 'Cancel the operation $?', effect: 'This cancels the operation $.' },
    done: 'Cancelled the operation $.',
  },
  {
    group: 'operation',
    name: 'retry',
    operation: 'retryOperation',
    subject: 'operation',
    summary: 'repeat an operation that has failed',
    example: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11',
    done: 'Repeated the operation $.',
  },
];

/** The result of each domain in a status report, which says what to change. */
function reportLines(answer: unknown): string {
  const domains: unknown = Reflect.get(Object(Reflect.get(Object(answer), 'report')), 'domains');
  const lines = (Array.isArray(domains) ? domains : []).map(
    (domain) => `${printable(`${domain.name}: ${domain.result}`)}\n`,
  );
  return lines.join('');
}
