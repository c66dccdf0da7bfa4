/** An error of the API: the message for everyone, the cause to look up. */
import { ApiError } from '../../client/index.ts';

export function ErrorBox({ error }: { readonly error: unknown }) {
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div class="failure" role="alert">
      {error instanceof ApiError && <span class="cause">{error.cause}</span>}
      {message}
    </div>
  );
}
