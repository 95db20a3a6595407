import type { Install } from '../../api/installs.ts';
import { isUnderWay, type Operation, useOperations } from '../../api/operations.ts';
import { Notice, ProgressBar } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { ClosedNotice } from './closed-notice.tsx';
import {
  copyStep,
  operationName,
  operationState,
  progressLabel,
  stateSince,
} from './operations/operation-labels.ts';
import { TryAgain } from './operations/try-again.tsx';

/** A notice while an install is being created or replaced, if it could not be created, or if it is closed to visitors. */
export function InstallNotice({ install }: { install: Install }) {
  if (install.status === 'pending') return <Making install={install} />;
  if (install.status === 'failed') return <Failed install={install} />;
  return (
    <>
      {install.lost_data !== null && <ClosedNotice install={install} lost={install.lost_data} />}
      <BeingReplaced install={install} />
    </>
  );
}

function Making({ install }: { install: Install }) {
  const operations = useOperations(install.id).data?.results.filter(isUnderWay) ?? [];
  // The others wait for it.
  const operation = operations.find(({ kind }) => kind === 'install.create') ?? operations[0];
  return (
    <Notice tone="busy" title={`${install.name} is being created`} role="status">
      {operation && (
        <p>
          {operationName(operation)}: {operationState(operation).word}, <Time at={stateSince(operation)} />.
          {operation.attempt > 1 && ` This is attempt ${operation.attempt}.`}
          {operation.error !== null && ` The last one failed: ${operation.error.message}`}
        </p>
      )}
      <p>This page updates as soon as the website is ready.</p>
      <ProgressBar label={`${install.name} is being created`} />
    </Notice>
  );
}

/** Warns that a copy of another install or an imported website will replace this one. */
function BeingReplaced({ install }: { install: Install }) {
  const operations = useOperations(install.id).data?.results.filter(isUnderWay) ?? [];
  const imported = operations.find(({ kind }) => kind === 'install.import');
  if (imported !== undefined) return <BeingImported install={install} operation={imported} />;
  const copy = operations.find(({ kind }) => kind === 'install.copy');
  if (copy === undefined) return null;
  const title = `${copy.copy?.from ?? 'Another install'} is being copied into ${install.name}`;
  return (
    <Notice tone="busy" title={title} role="status">
      <p>{copyStep(copy) ?? copy.error?.message ?? 'Waiting for other operations of this install.'}</p>
      <p>
        The copy replaces the files and the database of {install.name}. Changes that you make before it
        finishes are lost.
      </p>
      <ProgressBar label={title} />
    </Notice>
  );
}

/** Warns that an imported website will replace this one. */
function BeingImported({ install, operation }: { install: Install; operation: Operation }) {
  const title = `A website is being imported into ${install.name}`;
  return (
    <Notice tone="busy" title={title} role="status">
      <p>
        {progressLabel(operation) ??
          operation.error?.message ??
          'Waiting for the checkpoint and other operations of this install.'}
      </p>
      <p>Changes that you make to {install.name} before it finishes are lost.</p>
      <ProgressBar label={title} />
    </Notice>
  );
}

function Failed({ install }: { install: Install }) {
  const operations = useOperations(install.id).data?.results;
  const failed = operations?.find(({ kind, status }) => kind === 'install.create' && status === 'failed');
  return (
    <Notice tone="bad" title={`${install.name} could not be created`}>
      <p>{failed?.error?.message ?? 'The reason is no longer available.'}</p>
      <p>{failed?.error?.advice ?? 'Delete this install and create it again.'}</p>
      {failed?.retryable && <TryAgain operationId={failed.id} what={`creating ${install.name}`} />}
    </Notice>
  );
}
