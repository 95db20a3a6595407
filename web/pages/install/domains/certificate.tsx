import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { portal } from '../../../api/client.ts';
import { type Domain, useCertificate } from '../../../api/domains.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy.tsx';
import { displayName } from '../../../components/display-name.ts';
import { TextField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Facts } from '../../../components/page.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import { daysLeft } from './domain-labels.ts';
import styles from './domains.module.css';

const SOURCES = {
  LETS_ENCRYPT: 'certificate authority',
  THIRD_PARTY: 'uploaded by a user',
  SELF_SIGNED: 'Homeport (self-signed; browsers show a warning)',
  CERT_SOURCE_UNSPECIFIED: 'unknown',
} as const;

/**
 * The certificate that the edge presents for a domain, with its downloads, and its private key for those who may see it.
 * With `bare`, without the facts.
 */
export function Certificate({
  install,
  domain,
  bare = false,
}: {
  install: Install;
  domain: Domain;
  bare?: boolean;
}) {
  const query = useCertificate(install.id, domain.id);
  const maySeeKey = useMay(install.account.id)('certificate.key');
  const now = useNow(60_000);
  return (
    <Loaded query={query} what="the certificate">
      {(found) => {
        if (found === null) return <Empty>This domain has no certificate yet.</Empty>;
        const { certificate, cert_info } = found;
        const left = daysLeft(certificate.expires_time, now);
        return (
          <>
            {!bare && (
              <Facts
                facts={[
                  ['Names', certificate.domains.join(', ')],
                  ['Source', SOURCES[certificate.cert_source]],
                  ['Issued', <Time key="issued" at={certificate.approved_time} exact />],
                  [
                    'Valid until',
                    <span key="until">
                      <Time at={certificate.expires_time} exact /> <Badge tone={left.tone}>{left.word}</Badge>
                    </span>,
                  ],
                  ['Automatic renewal', certificate.auto_renew ? 'yes' : 'no'],
                ]}
              />
            )}
            <div className={styles.row}>
              <TextDownload
                text={cert_info.cert}
                type="application/x-pem-file"
                name={`${domain.name.replace('*', 'wildcard')}.pem`}
              >
                Download certificate
              </TextDownload>
              <CopyButton text={cert_info.cert} what="the certificate" />
            </div>
            {/* Users have the key of what they uploaded. */}
            {maySeeKey && certificate.cert_source !== 'THIRD_PARTY' && (
              <PrivateKey installId={install.id} domain={domain} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** The private key. The user enters the password to see it. */
function PrivateKey({ installId, domain }: { installId: string; domain: Domain }) {
  const [asking, setAsking] = useState(false);
  const [pem, setPem] = useState<string | null>(null);
  const opener = useRef<HTMLButtonElement>(null);

  function cancel() {
    // Renders the button before it takes the focus back.
    flushSync(() => setAsking(false));
    opener.current?.focus();
  }

  if (pem !== null) {
    return (
      <div className={styles.stack}>
        <pre className={styles.pem}>{pem}</pre>
        <div className={styles.row}>
          <CopyButton text={pem} what="the private key" />
          <Button small onClick={() => setPem(null)}>
            Hide private key
          </Button>
        </div>
      </div>
    );
  }
  if (!asking) {
    return (
      <div className={styles.row}>
        <Button ref={opener} small onClick={() => setAsking(true)}>
          Show private key
        </Button>
        <span className={styles.soft}>Anyone with this key can impersonate {displayName(domain.name)}.</span>
      </div>
    );
  }
  return (
    <PasswordForm
      onSubmit={async (password) => {
        const { private_key } = await unwrap(
          portal.POST('/portal/api/installs/{install_id}/domains/{domain_id}/private_key', {
            params: { path: { install_id: installId, domain_id: domain.id } },
            body: { current_password: password },
          }),
        );
        setAsking(false);
        setPem(private_key);
      }}
      onCancel={cancel}
    />
  );
}

function PasswordForm({
  onSubmit,
  onCancel,
}: {
  onSubmit(password: string): Promise<void>;
  onCancel(): void;
}) {
  const field = useFocusOnMount<HTMLInputElement>();
  return (
    <Form
      submitLabel="Show private key"
      // The default would close the drawer around the form.
      actions={<Button onClick={onCancel}>Cancel</Button>}
      onSubmit={(values) => onSubmit(textOf(values, 'current_password'))}
    >
      <TextField
        ref={field}
        type="password"
        label="Your password"
        name="current_password"
        hint="The activity of the account records that you saw the key."
        autoComplete="current-password"
        required
      />
    </Form>
  );
}
