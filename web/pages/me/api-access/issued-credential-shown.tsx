import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { useFirstFocus } from '../../../components/first-focus.ts';
import { Notice } from '../../../components/notice.tsx';
import { Facts } from '../../../components/page.tsx';
import styles from './api-access.module.css';
import { curlLine, isLocal } from './curl-line.ts';
import type { IssuedCredential } from './new-credential-form.tsx';

/** The one time that the password is shown, with a line to try it at once. */
export function IssuedCredentialShown({ issued, onKept }: { issued: IssuedCredential; onKept(): void }) {
  const heading = useFirstFocus<HTMLHeadingElement>();
  const { id: username, password, name } = issued;
  return (
    <div className={styles.steps}>
      <h3 ref={heading} tabIndex={-1} className={styles.heading}>
        {name}
      </h3>
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
  const base = document.baseURI;
  return (
    <div className={styles.steps}>
      <Copyable text={curlLine(base, { username, password })} what="the curl line" />
      <p className={styles.soft}>It answers with who you are.</p>
      {isLocal(base) && (
        <p className={styles.soft}>
          If the server shows a certificate of its own making, put <code>--cacert data/tls/api.crt</code>{' '}
          after <code>curl</code>, with the path of its data folder.
        </p>
      )}
    </div>
  );
}
