import type { QueryClient } from '@tanstack/react-query';
import { hosting } from '../api/client.ts';
import { FormError, unwrap, unwrapStarted } from '../api/failure.ts';
import { formatTime } from '../components/formatted-time.ts';
import { showFailure, showOperation } from '../components/toast.tsx';

/** The install that a command is for. */
export interface CommandTarget {
  id: string;
  name: string;
}

/** A command for one install, which the user chooses if no install is open. */
export interface InstallCommand {
  id: string;
  /** Without an install: "Back up an install". */
  label: string;
  labelFor(name: string): string;
  /** Asks for the install. */
  question: string;
  needsWordPress?: true;
  /** Is called by a click or key, so that the browser lets it open a tab. */
  run(target: CommandTarget, queries: QueryClient): void;
}

export const INSTALL_COMMANDS: readonly InstallCommand[] = [
  {
    id: 'sign-in',
    label: 'Sign in to WordPress',
    labelFor: (name) => `Sign in to WordPress of ${name}`,
    question: 'Sign in to which WordPress?',
    needsWordPress: true,
    run: ({ id }) => openWordPress(id),
  },
  {
    id: 'back-up',
    label: 'Back up an install',
    labelFor: (name) => `Back up ${name}`,
    question: 'Back up which install?',
    run: (target, queries) => void backUp(target, queries).catch(showFailure),
  },
  {
    id: 'purge',
    label: 'Purge the caches of an install',
    labelFor: (name) => `Purge the caches of ${name}`,
    question: 'Purge the caches of which install?',
    run: (target, queries) => void purgeCaches(target, queries).catch(showFailure),
  },
];

/** Opens the tab at once, because browsers block tabs that open later. It gets no way back to this page. */
function openWordPress(installId: string): void {
  const tab = window.open('', '_blank');
  if (tab === null) {
    const sentence = 'Your browser blocked the new tab. Allow pop-ups for this page, then sign in again.';
    showFailure(new FormError(sentence));
    return;
  }
  tab.opener = null;
  const path = { install_id: installId };
  unwrap(hosting.POST('/installs/{install_id}/wordpress/login_links', { params: { path }, body: {} })).then(
    ({ url }) => tab.location.replace(url),
    (error: unknown) => {
      tab.close();
      showFailure(error);
    },
  );
}

async function backUp({ id, name }: CommandTarget, queries: QueryClient): Promise<void> {
  const description = `Backup of ${formatTime(new Date().toISOString())}`;
  const operationId = await unwrapStarted(
    hosting.POST('/installs/{install_id}/backups', {
      params: { path: { install_id: id } },
      body: { description, notification_emails: [] },
    }),
  );
  showOperation(operationId, { busy: `Backing up ${name}.`, done: `Backed up ${name}.` });
  for (const topic of ['backup', 'operation']) void queries.invalidateQueries({ queryKey: [topic, id] });
}

async function purgeCaches({ id, name }: CommandTarget, queries: QueryClient): Promise<void> {
  const operationId = await unwrapStarted(
    hosting.POST('/installs/{install_id}/purge_cache', {
      params: { path: { install_id: id } },
      body: { type: 'all' },
    }),
  );
  const caches = `the caches of ${name}`;
  showOperation(operationId, { busy: `Purging ${caches}.`, done: `Purged ${caches}.` });
  void queries.invalidateQueries({ queryKey: ['operation', id] });
}
