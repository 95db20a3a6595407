import type { Install } from '../../api/installs.ts';
import { Notice, ProgressBar } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { nameOf, sinceOf, stateOf, whatToDo } from './operation-words.ts';
import { isUnderWay, useOperations } from './queries.ts';

/** What anybody should know first of an install that is not (yet) a website. */
export function InstallNotice({ install }: { install: Install }) {
  if (install.status === 'pending') return <Making install={install} />;
  return install.status === 'failed' ? <Failed install={install} /> : null;
}

function Making({ install }: { install: Install }) {
  const operation = useOperations(install.id).data?.results.find(isUnderWay);
  return (
    <Notice tone="busy" title={`${install.name} is being made`} role="status">
      {operation && (
        <p>
          {nameOf(operation)}: {stateOf(operation).word}, <Time at={sinceOf(operation)} />.
          {operation.attempt > 1 && ` This is attempt ${operation.attempt}.`}
          {operation.reason !== null && ` The last one failed: ${operation.reason}`}
        </p>
      )}
      <p>This page changes by itself as soon as the website answers.</p>
      <ProgressBar label={`${install.name} is being made`} />
    </Notice>
  );
}

function Failed({ install }: { install: Install }) {
  const operations = useOperations(install.id).data?.results;
  const failed = operations?.find(({ kind, state }) => kind === 'provision_install' && state === 'failed');
  return (
    <Notice tone="bad" title={`${install.name} could not be made`}>
      <p>{failed?.reason ?? 'The reason is not kept any more.'}</p>
      <p>{whatToDo({ kind: 'provision_install', state: 'failed' })}</p>
    </Notice>
  );
}
