import { Link } from 'wouter';
import { useDomains } from '../../api/domains.ts';
import { type Install, useConnection } from '../../api/installs.ts';
import { ButtonLink } from '../../components/button.tsx';
import { displayName } from '../../components/display-name.ts';
import { Notice } from '../../components/notice.tsx';
import { useMay } from '../../session/session.ts';
import { InstallNotice } from '../install/install-notice.tsx';
import { WebsiteLink } from '../install/website-link.tsx';
import { WordPressSignIn } from '../install/wordpress-sign-in.tsx';
import styles from './new-site.module.css';
import { StepContent } from './steps.tsx';

/** The last step: the progress of the new install, and what to do next. */
export function SiteDone({ install }: { install: Install }) {
  const may = useMay(install.account.id);
  const connection = useConnection(install.id).data;
  const { data: domains = [] } = useDomains(install.id);
  const own = domains.filter(({ name }) => name !== install.cname);
  const ownAddress = `/installs/${install.id}`;
  const title =
    install.status === 'active'
      ? 'Your site is ready'
      : install.status === 'pending'
        ? 'Your site is being created'
        : 'Your site could not be created';
  return (
    <StepContent title={title}>
      <InstallNotice install={install} />
      {install.status === 'active' && (
        <Notice tone="good" role="status">
          {install.name} is online at <code>{install.cname}</code>.
        </Notice>
      )}
      <div className={styles.row}>
        <ButtonLink href={ownAddress} variant="primary">
          Go to {install.name}
        </ButtonLink>
        {install.status === 'active' && connection && (
          <>
            <WebsiteLink href={connection.website_url} />
            {/* Every install with PHP runs WordPress. */}
            {install.php_version !== null && may('install.work') && (
              <WordPressSignIn installId={install.id} />
            )}
          </>
        )}
      </div>
      {install.status !== 'failed' && (
        <ul className={styles.list}>
          {own.length > 0 && (
            <li>
              <Link href={`${ownAddress}/domains`}>Check the DNS records</Link> of{' '}
              {own.map(({ name }) => displayName(name)).join(' and ')}.
            </li>
          )}
          {own.length === 0 && (
            <li>
              <Link href={`${ownAddress}/domains`}>Add a domain</Link> when you have one.
            </li>
          )}
          <li>
            <Link href={`${ownAddress}/connect`}>Connect by SFTP</Link> to upload files.
          </li>
        </ul>
      )}
    </StepContent>
  );
}
