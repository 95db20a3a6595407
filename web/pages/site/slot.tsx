import { useQueryClient } from '@tanstack/react-query';
import { type RefObject, useId, useRef, useState } from 'react';
import { hosting } from '../../api/client.ts';
import { answered } from '../../api/failure.ts';
import type { Install } from '../../api/installs.ts';
import { useConnection } from '../../api/installs.ts';
import buttonStyles from '../../components/button.module.css';
import { Button, ButtonLink } from '../../components/button.tsx';
import { InstallStatus } from '../../components/install-status.tsx';
import { Facts } from '../../components/page.tsx';
import { say, sayFailure } from '../../components/toast.tsx';
import styles from './site.module.css';

/** What is shown of an install in its slot. */
export type SlotInstall = Pick<Install, 'id' | 'name' | 'php_version' | 'primary_domain'> & {
  /** Left out while it is not known. */
  status: Install['status'] | undefined;
};

/** One environment of a site: the install that fills it, or the ways to fill it. */
export function Slot({
  title,
  install,
  mayChange,
  onCreate,
  onMove,
}: {
  title: string;
  install: SlotInstall | undefined;
  mayChange: boolean;
  onCreate(): void;
  onMove(): void;
}) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <section className={styles.slot} aria-labelledby={id}>
      <header className={styles.header}>
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <span aria-live="polite">{install?.status && <InstallStatus status={install.status} />}</span>
      </header>
      {install ? (
        <Filled install={install} mayChange={mayChange} heading={heading} />
      ) : (
        <>
          <p className={styles.soft}>Empty</p>
          {mayChange && (
            <div className={styles.actions}>
              <Button small onClick={onCreate} aria-label={`Create an install here: ${title}`}>
                Create an install here
              </Button>
              <Button small onClick={onMove} aria-label={`Move an install here: ${title}`}>
                Move an install here
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
  heading,
}: {
  install: SlotInstall;
  mayChange: boolean;
  /** Gets the focus when the install is gone. */
  heading: RefObject<HTMLHeadingElement | null>;
}) {
  return (
    <>
      <Facts
        facts={[
          ['Install', install.name],
          ['Domain', install.primary_domain],
          ...(install.php_version === null ? [] : [['PHP', install.php_version] as const]),
        ]}
      />
      <div className={styles.actions}>
        <ButtonLink small href={`/installs/${install.id}`}>
          Manage <span className="visually-hidden">{install.name}</span>
        </ButtonLink>
        {install.status === 'active' && <OpenWebsite install={install} />}
        {mayChange && <TakeOut install={install} heading={heading} />}
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
      Open website <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> {name} in a new tab</span>
    </a>
  );
}

function TakeOut({
  install,
  heading,
}: {
  install: SlotInstall;
  heading: RefObject<HTMLHeadingElement | null>;
}) {
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  async function takeOut() {
    setPending(true);
    try {
      await answered(
        hosting.PATCH('/installs/{install_id}', {
          params: { path: { install_id: install.id } },
          body: { site_id: null, environment: null },
        }),
      );
      await Promise.all(['site', 'install'].map((topic) => queries.invalidateQueries({ queryKey: [topic] })));
      say(`${install.name} is in no site now. It goes on as it was.`);
      heading.current?.focus();
    } catch (error) {
      sayFailure(error);
      setPending(false);
    }
  }
  return (
    <Button small pending={pending} onClick={takeOut} aria-label={`Take out ${install.name}`}>
      Take out
    </Button>
  );
}
