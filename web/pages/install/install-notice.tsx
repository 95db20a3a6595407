import type { Install } from '../../api/installs.ts';
import { isUnderWay, useOperations } from '../../api/operations.ts';
import { Notice, ProgressBar } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import {
  copyStep,
  failureAdvice,
  operationName,
  operationState,
  stateSince,
} from './operations/operation-labels.ts';

/** What anybody should know first of an install: that it is not (yet) a website, or is about to become another. */
export function InstallNotice({ install }: { install: Install }) {
  if (install.status === 'pending') return <Making install={install} />;
  return install.status === 'failed' ? <Failed install={install} /> : <BeingReplaced install={install} />;
}

function Making({ install }: { install: Install }) {
  const operation = useOperations(install.id).data?.results.find(isUnderWay);
  return (
    <Notice tone="busy" title={`${install.name} is being made`} role="status">
      {operation && (
        <p>
          {operationName(operation)}: {operationState(operation).word}, <Time at={stateSince(operation)} />.
          {operation.attempt > 1 && ` This is attempt ${operation.attempt}.`}
          {operation.reason !== null && ` The last one failed: ${operation.reason}`}
        </p>
      )}
      <p>This page changes by itself as soon as the website answers.</p>
      <ProgressBar label={`${install.name} is being made`} />
    </Notice>
  );
}

/** A copy of another install comes; what is done here until then is in vain. */
function BeingReplaced({ install }: { install: Install }) {
  const copy = useOperations(install.id).data?.results.find(
    (operation) => operation.kind === 'copy_install' && isUnderWay(operation),
  );
  if (copy === undefined) return null;
  const title = `${copy.copy?.from ?? 'Another install'} is being copied into ${install.name}`;
  return (
    <Notice tone="busy" title={title} role="status">
      <p>{copyStep(copy) ?? copy.reason ?? 'It waits for its turn.'}</p>
      <p>
        The files and the database of {install.name} are replaced; what is changed in them until then is lost.
      </p>
      <ProgressBar label={title} />
    </Notice>
  );
}

function Failed({ install }: { install: Install }) {
  const operations = useOperations(install.id).data?.results;
  const failed = operations?.find(({ kind, state }) => kind === 'provision_install' && state === 'failed');
  return (
    <Notice tone="bad" title={`${install.name} could not be made`}>
      <p>{failed?.reason ?? 'The reason is not kept any more.'}</p>
      <p>{failureAdvice({ kind: 'provision_install', state: 'failed' })}</p>
    </Notice>
  );
}
