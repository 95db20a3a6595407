import { useApiCertificate } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { useLeaveReason } from '../../../components/leave-reasons.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Facts } from '../../../components/page.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import styles from './api-access.module.css';
import { curlLine } from './curl-line.ts';
import type { IssuedCredential } from './new-credential-form.tsx';

const CERTIFICATE_FILE = 'homeport.crt';

/** Shows the password of a new credential once, with a command to try it. */
export function IssuedCredentialShown({ issued, onKept }: { issued: IssuedCredential; onKept(): void }) {
  const heading = useFocusOnMount<HTMLHeadingElement>();
  useLeaveReason('The password is not shown again. You cannot use the credential without it.');
  const { id: username, password, name } = issued;
  return (
    <div className={styles.steps}>
      <h3 ref={heading} tabIndex={-1} className={styles.heading}>
        {name}
      </h3>
      <Notice tone="busy">
        The password is not shown again. Save it now in a password manager or in your program's settings.
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
          I have saved the password
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
                The API uses a self-signed certificate. Download it first and run the command in the same
                folder.
              </p>
              <div>
                <TextDownload text={own} type="application/x-pem-file" name={CERTIFICATE_FILE}>
                  Download certificate
                </TextDownload>
              </div>
            </>
          )}
          <Copyable
            text={curlLine(document.baseURI, { username, password }, own === null ? null : CERTIFICATE_FILE)}
            what="the curl command"
          />
          <p className={styles.soft}>The response shows your user details.</p>
        </div>
      )}
    </Loaded>
  );
}
