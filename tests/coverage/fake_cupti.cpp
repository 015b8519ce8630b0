// SPDX-License-Identifier: LGPL-2.1-or-later
/// In place of CUPTI where there is no GPU: each call that is enabled launches "_Z5firstv" once, fails to
/// launch
/// "_Z6failedv", and enters a launch of "_Z7enteredv" that does not end.
#include <cupti.h>

namespace {

CUpti_CallbackFunc g_function;
void* g_data;

void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site, int result,
          const char* kernel) {
  CUpti_CallbackData info{};
  info.callbackSite = site;
  info.functionReturnValue = &result;
  info.symbolName = kernel;
  g_function(g_data, domain, id, &info);
}

}  // namespace

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc function, void* data) {
  g_function = function;
  g_data = data;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId id) {
  call(domain, id, CUPTI_API_EXIT, 0, "_Z5firstv");
  call(domain, id, CUPTI_API_EXIT, 1, "_Z6failedv");
  call(domain, id, CUPTI_API_ENTER, 0, "_Z7enteredv");
  call(domain, id, CUPTI_API_EXIT, 0, nullptr);
  return CUPTI_SUCCESS;
}
