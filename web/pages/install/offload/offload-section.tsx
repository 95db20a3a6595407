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
import { Empty, Facts, MainSection, Section } from '../../../components/page.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import { Time } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import styles from './offload.module.css';
import { SwitchOffloadOff } from './switch-off.tsx';

const OffloadForm = lazy(async () => ({ default: (await import('./offload-form.tsx')).OffloadForm }));

/** Serves files of a website from the customer's bucket. */
export function OffloadSection({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  const settings = useOffloadSettings(install.id);
  return (
    <>
      <MainSection>
        <div>
          <p>
            Serve files from your own S3 bucket in three steps: upload the validation file to the bucket,
            enter the bucket and paths, and wait for the check.
          </p>
          {!mayWork && <CheckStatus installId={install.id} />}
        </div>
        <Loaded query={settings} what="the offload settings">
          {(found) =>
            found === null ? (
              <Empty>No files are offloaded.</Empty>
            ) : (
              <>
                <ActiveSettings settings={found} />
                {mayWork && <SwitchOffloadOff installId={install.id} bucket={found.bucket} />}
              </>
            )
          }
        </Loaded>
      </MainSection>
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
          {/* Where those who press the form's button look. */}
          <CheckStatus installId={install.id} />
        </Section>
      )}
    </>
  );
}

/** The outcome of the last submitted settings. */
function CheckStatus({ installId }: { installId: string }) {
  const query = useOffloadStatus(installId);
  return (
    <div aria-live="polite" className={styles.standing}>
      <Loaded query={query} what="the state of the check">
        {({ state, reason, updated_at }) => {
          const when = updated_at !== null && <Time at={updated_at} />;
          if (state === 'requested') {
            return (
              <Notice tone="busy" title="Checking the bucket">
                <p>Submitted {when}. The previous settings stay active until the check passes.</p>
                <ProgressBar label="Checking the bucket" />
              </Notice>
            );
          }
          if (state === 'removing') {
            return (
              <Notice tone="busy" title="Switching offload off">
                <ProgressBar label="Switching offload off" />
              </Notice>
            );
          }
          if (state === 'refused') {
            return (
              <Notice tone="bad" title="The settings were rejected">
                <p>{reason}</p>
                <p>Fix the problem and submit again. The previous settings are still active.</p>
              </Notice>
            );
          }
          return state === 'in_force' ? (
            <Notice tone="good" title="The settings are active">
              Since {when}.
            </Notice>
          ) : null;
        }}
      </Loaded>
    </div>
  );
}

function ActiveSettings({ settings }: { settings: OffloadSettings }) {
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
        This file proves that you own the bucket. Upload it unchanged to the root of the bucket, with the same
        read permissions as the files to serve.
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
                Download file
              </TextDownload>
              <CopyButton text={content} what="the content of the validation file" />
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}
