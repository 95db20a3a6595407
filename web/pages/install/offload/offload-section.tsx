import { lazy, Suspense } from 'react';
import type { Install } from '../../../api/installs.ts';
import {
  type OffloadSettings,
  useOffloadSettings,
  useOffloadStatus,
  useValidationFile,
} from '../../../api/offload.ts';
import { CopyButton } from '../../../components/copy.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice, ProgressBar } from '../../../components/notice.tsx';
import { Empty, Facts, Section } from '../../../components/page.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import { Time } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import styles from './offload.module.css';

const OffloadForm = lazy(async () => ({ default: (await import('./offload-form.tsx')).OffloadForm }));

/** Files of a website served from a bucket of the customer's. */
export function OffloadSection({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  const settings = useOffloadSettings(install.id);
  return (
    <>
      <Section title="Offload files to a bucket">
        <div>
          <p>
            Files below the paths that you name are served from an S3 bucket of yours. It takes three steps:
            put the validation file into the bucket, name bucket and paths, and wait for the check.
          </p>
          <Standing installId={install.id} />
        </div>
        <Loaded query={settings} what="the offload settings">
          {(found) => (found === null ? <Empty>Nothing is offloaded.</Empty> : <InForce settings={found} />)}
        </Loaded>
      </Section>
      <ValidationFile installId={install.id} />
      {mayWork && (
        <Section title="2. Bucket and paths">
          <Loaded query={settings} what="the offload settings">
            {(found) => (
              <Suspense fallback={<ProgressBar label="Loading the form" />}>
                <OffloadForm installId={install.id} settings={found} />
              </Suspense>
            )}
          </Loaded>
        </Section>
      )}
    </>
  );
}

/** How the last request fared. */
function Standing({ installId }: { installId: string }) {
  const query = useOffloadStatus(installId);
  return (
    <div aria-live="polite" className={styles.standing}>
      <Loaded query={query} what="the state of the check">
        {({ state, reason, updated_at }) => {
          const when = updated_at !== null && <Time at={updated_at} />;
          if (state === 'requested') {
            return (
              <Notice tone="busy" title="The bucket is being checked">
                <p>Asked for {when}. What was in force before stays in force until the check has passed.</p>
                <ProgressBar label="The bucket is being checked" />
              </Notice>
            );
          }
          if (state === 'refused') {
            return (
              <Notice tone="bad" title="The settings were refused">
                <p>{reason}</p>
                <p>Mend that, and submit the settings again. What was in force before is in force still.</p>
              </Notice>
            );
          }
          return state === 'in_force' ? (
            <Notice tone="good" title="The settings are in force">
              Since {when}.
            </Notice>
          ) : null;
        }}
      </Loaded>
    </div>
  );
}

function InForce({ settings }: { settings: OffloadSettings }) {
  return (
    <>
      <Facts
        facts={[
          ['Bucket', <code key="bucket">{settings.bucket}</code>],
          ['Region', <code key="region">{settings.bucket_region}</code>],
        ]}
      />
      <ul>
        {settings.path_settings.map(({ path, redirect_type, excluded_paths }) => (
          <li key={path}>
            <code>{path}</code>:{' '}
            {redirect_type === 'break' ? 'served through the edge' : 'visitors are redirected to the bucket'}
            {excluded_paths.length > 0 && `, except ${excluded_paths.join(', ')}`}
          </li>
        ))}
      </ul>
    </>
  );
}

function ValidationFile({ installId }: { installId: string }) {
  const query = useValidationFile(installId);
  return (
    <Section title="1. Validation file">
      <p>
        It proves that the bucket is yours. Put it at the root of the bucket, as it is, and as readable as the
        files that shall be served from there.
      </p>
      <Loaded query={query} what="the validation file">
        {({ name, content }) => (
          <>
            <Facts
              facts={[
                ['Name', <code key="name">{name}</code>],
                ['Content', <code key="content">{content}</code>],
              ]}
            />
            <div className={styles.row}>
              <TextDownload text={content} type="application/octet-stream" name={name}>
                Download the file
              </TextDownload>
              <CopyButton text={content} what="the content of the validation file" />
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}
