import { useApiCertificate } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { LeaveConfirmation } from '../../../components/leave-confirmation.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Facts } from '../../../components/page.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import styles from './api-access.module.css';
import { curlLine } from './curl-line.ts';
import type { IssuedCredential } from './new-credential-form.tsx';

const CERTIFICATE_FILE = 'homeport.crt';

/** The one time that the password is shown, with a line to try it at once. */
export function IssuedCredentialShown({ issued, onKept }: { issued: IssuedCredential; onKept(): void }) {
  const heading = useFocusOnMount<HTMLHeadingElement>();
  const { id: username, password, name } = issued;
  return (
    <div className={styles.steps}>
      <h3 ref={heading} tabIndex={-1} className={styles.heading}>
        {name}
      </h3>
      <LeaveConfirmation description="The password is not shown again. Without it the credential is of no use." />
      <Notice tone="busy">
        The password is not shown again: keep it now, in a password manager or in the settings of your
        program.
      </Notice>
      <Facts
        facts={[
          ['Username', <Copyable key="username" text={username} what="the API username" />],
          ['Password', <Copyable key="password" text={password} what="the API password" />],
          ['Try it', <TryIt key="try" username={username} password={password} />],
        ]}
      />
      <div>
        <Button variant="primary" onClick={onKept}>
          I have kept the password
        </Button>
      </div>
    </div>
  );
}

function TryIt({ username, password }: { username: string; password: string }) {
  const certificate = useApiCertificate();
  return (
    <Loaded query={certificate} what="the certificate of the API">
      {(own) => (
        <div className={styles.steps}>
          {own !== null && (
            <>
              <p className={styles.soft}>
                The API shows a certificate that Homeport made itself, which no program knows: download it
                first, and run the line where it lies.
              </p>
              <div>
                <TextDownload text={own} type="application/x-pem-file" name={CERTIFICATE_FILE}>
                  Download the certificate
                </TextDownload>
              </div>
            </>
          )}
          <Copyable
            text={curlLine(document.baseURI, { username, password }, own === null ? null : CERTIFICATE_FILE)}
            what="the curl line"
          />
          <p className={styles.soft}>It answers with who you are.</p>
        </div>
      )}
    </Loaded>
  );
}
