import { useState } from 'react';
import { type Domain, useCertificate } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
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

/** The certificate that the edge presents for a domain. */
export function CertificateDialog({
  open,
  onOpenChange,
  install,
  domain,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  install: Install;
  domain: Domain;
}) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={`Certificate of ${displayName(domain.name)}`}>
      <Certificate install={install} domain={domain} />
    </Dialog>
  );
}

function Certificate({ install, domain }: { install: Install; domain: Domain }) {
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
            {maySeeKey && cert_info.key !== '' && (
              <PrivateKey pem={cert_info.key} name={displayName(domain.name)} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** The private key, hidden until the user asks for it. */
function PrivateKey({ pem, name }: { pem: string; name: string }) {
  const [shown, setShown] = useState(false);
  if (!shown) {
    return (
      <div className={styles.row}>
        <Button small onClick={() => setShown(true)}>
          Show private key
        </Button>
        <span className={styles.soft}>Anyone with this key can impersonate {name}.</span>
      </div>
    );
  }
  return (
    <div className={styles.stack}>
      <pre className={styles.pem}>{pem}</pre>
      <div className={styles.row}>
        <CopyButton text={pem} what="the private key" />
        <Button small onClick={() => setShown(false)}>
          Hide private key
        </Button>
      </div>
    </div>
  );
}
