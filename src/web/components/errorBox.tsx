/** An error message. */
import { errorText } from '../errorText.ts';

export function ErrorBox({ error }: { readonly error: unknown }) {
  return (
    <div class="failure" role="alert">
      {errorText(error)}
    </div>
  );
}
