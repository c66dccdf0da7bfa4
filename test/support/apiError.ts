/** Calls that may be refused, as values: for tests that expect a refusal, or wait for its end. */
import assert from 'node:assert/strict';
import { ApiError } from '../../src/client/index.ts';

/** The answer of a call, or the `ApiError` that it throws. */
export async function outcomeOf<T>(call: Promise<T>): Promise<T | ApiError> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The `ApiError` that a call throws. */
export async function refusalOf(call: Promise<unknown>): Promise<ApiError> {
  const outcome = await outcomeOf(call);
  return outcome instanceof ApiError ? outcome : assert.fail('it was refused');
}
