import { useId } from 'react';
import type { Install } from '../../api/installs.ts';
import { useConnection } from '../../api/installs.ts';
import buttonStyles from '../../components/button.module.css';
import { Button, ButtonLink } from '../../components/button.tsx';
import { DomainName } from '../../components/domain-name.tsx';
import { InstallStatus } from '../../components/install-status.tsx';
import { Facts } from '../../components/page.tsx';
import styles from './site.module.css';

/** The install in an environment. */
export type SlotInstall = Pick<Install, 'id' | 'name' | 'php_version' | 'primary_domain'> & {
  /** Undefined until loaded. */
  status: Install['status'] | undefined;
};

/** An environment of a site: its install, or buttons to create or move one. */
export function Slot({
  title,
  install,
  mayChange,
  onCreate,
  onMove,
  onDetach,
}: {
  title: string;
  install: SlotInstall | undefined;
  mayChange: boolean;
  onCreate(): void;
  onMove(): void;
  onDetach(): void;
}) {
  const id = useId();
  return (
    <section className={styles.slot} aria-labelledby={id}>
      <header className={styles.header}>
        {/* Takes the focus when the install is removed (kept-focus.ts). */}
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        <span aria-live="polite">{install?.status && <InstallStatus status={install.status} />}</span>
      </header>
      {install ? (
        <Filled install={install} mayChange={mayChange} onDetach={onDetach} />
      ) : (
        <>
          <p className={styles.soft}>Empty</p>
          {mayChange && (
            <div className={styles.actions}>
              <Button small onClick={onCreate} aria-label={`Create install: ${title}`}>
                Create install
              </Button>
              <Button small onClick={onMove} aria-label={`Move install here: ${title}`}>
                Move install here
              </Button>
            </div>
          )}
        </>
      )}
    </section>
  );
}

function Filled({
  install,
  mayChange,
  onDetach,
}: {
  install: SlotInstall;
  mayChange: boolean;
  onDetach(): void;
}) {
  return (
    <>
      <Facts
        facts={[
          ['Install', install.name],
          ['Domain', <DomainName key="domain" name={install.primary_domain} />],
          ...(install.php_version === null ? [] : [['PHP', install.php_version] as const]),
        ]}
      />
      <div className={styles.actions}>
        <ButtonLink small href={`/installs/${install.id}`}>
          Manage <span className="visually-hidden">{install.name}</span>
        </ButtonLink>
        {install.status === 'active' && <OpenWebsite install={install} />}
        {mayChange && (
          <Button small onClick={onDetach} aria-label={`Detach ${install.name}`}>
            Detach
          </Button>
        )}
      </div>
    </>
  );
}

function OpenWebsite({ install: { id, name } }: { install: SlotInstall }) {
  const { data: connection } = useConnection(id);
  if (!connection) return null;
  return (
    <a
      className={`${buttonStyles.button} ${buttonStyles.small}`}
      href={connection.website_url}
      target="_blank"
      rel="noopener"
    >
      Website <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> {name} in a new tab</span>
    </a>
  );
}
