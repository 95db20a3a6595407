import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { Section } from '../../../components/page.tsx';
import { LinkButton } from '../link-button.tsx';

/** Opens the install's database in the browser. */
export function DatabaseAccess({ installId }: { installId: string }) {
  return (
    <Section title="Database">
      <p>
        View and change the tables, run SQL, export and import, in your browser. The session ends after 30
        minutes without a request. Make a backup before you change anything, and purge all caches afterwards,
        so that visitors see the changes.
      </p>
      <div>
        <LinkButton
          again="open the database again"
          createLink={() =>
            unwrap(
              hosting.POST('/installs/{install_id}/database/login_links', {
                params: { path: { install_id: installId } },
              }),
            )
          }
        >
          Open the database
        </LinkButton>
      </div>
    </Section>
  );
}
