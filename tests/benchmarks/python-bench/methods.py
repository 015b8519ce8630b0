# SPDX-License-Identifier: LGPL-2.1-or-later
"""What python_bench.py times. prepare(image, connectivity) returns a function to be timed, and one that returns the
labels of its last call as a NumPy array, or None if they are no image of labels; None if the method does not serve.
Tasks: "labels", and "records": with area, box and centroid of each component.
"""

import numpy


class Missing(Exception):
    """A library is not installed, or finds no GPU."""


def need(name, package):
    try:
        return __import__(name, fromlist=["*"])
    except Exception as error:  # an import of CUDA libraries may raise anything
        raise Missing(f"{package}: {error}") from None


class Method:
    name = task = library = version = ""
    engine_us = None  # on a GPU: what this project's engine reports for the stages of a call

    def __repr__(self):
        return f"{self.name} {self.task}"


class Own(Method):
    """Engine, with all its memory taken before."""

    name = library = "cudaccl"
    features = ()

    def __init__(self):
        self.package = need("cudaccl", "cudaccl")
        self.version = self.package.__version__

    def settings(self):
        return {"backend": "cpu", "threads": 1, "features": self.features}

    def move(self, image):
        return image

    def prepare(self, image, connectivity):
        engine = self.package.Engine(image.shape, connectivity=connectivity, max_components=1 << 20, **self.settings())
        array = self.move(image)
        self.stages_us = lambda: sum(engine(array).times.values())
        return (lambda: engine(array)), (lambda: self.fetch(engine(array).labels))

    def fetch(self, labels):
        return labels.copy()


class OwnRecords(Own):
    task = "records"


class OwnLabels(Own):
    """The engine makes the basic records always: this is the same call."""

    task = "labels"


class OwnAll(Own):
    name = "cudaccl, all features"
    task = "records"
    features = "all"


class OwnFunction(Own):
    """label(), which returns arrays of the caller's."""

    name = "cudaccl.label()"
    task = "records"

    def prepare(self, image, connectivity):
        def work():
            return self.package.label(image, connectivity, threads=1, features=self.features)

        return work, lambda: work().labels


class OpenCv(Method):
    name = library = "opencv"

    def __init__(self):
        self.cv2 = need("cv2", "OpenCV (opencv-python-headless)")
        self.cv2.setNumThreads(1)
        self.version = self.cv2.__version__


class OpenCvLabels(OpenCv):
    task = "labels"

    def prepare(self, image, connectivity):
        def work():
            return self.cv2.connectedComponents(image, connectivity=connectivity)

        return work, lambda: work()[1]


class OpenCvRecords(OpenCv):
    task = "records"

    def prepare(self, image, connectivity):
        def work():
            return self.cv2.connectedComponentsWithStats(image, connectivity=connectivity)

        return work, lambda: work()[1]


class Cc3d(Method):
    name = library = "cc3d"

    def __init__(self):
        self.cc3d = need("cc3d", "cc3d (connected-components-3d)")
        self.version = getattr(self.cc3d, "__version__", "") or self._installed()

    @staticmethod
    def _installed():
        from importlib.metadata import version

        return version("connected-components-3d")


class Cc3dLabels(Cc3d):
    task = "labels"

    def prepare(self, image, connectivity):
        def work():
            return self.cc3d.connected_components(image, connectivity=connectivity)

        return work, work


class Cc3dRecords(Cc3d):
    task = "records"

    def prepare(self, image, connectivity):
        def work():
            labels = self.cc3d.connected_components(image, connectivity=connectivity)
            return labels, self.cc3d.statistics(labels)

        return work, lambda: work()[0]


class OnGpu(Own):
    """CuPy's array in, labels on the GPU."""

    task = "records"
    labels = True

    def __init__(self):
        super().__init__()
        self.cupy = need("cupy", "CuPy")
        try:
            if not self.package.has_cuda() or self.cupy.cuda.runtime.getDeviceCount() == 0:
                raise Missing("cudaccl: this build has no CUDA, or there is no GPU")
            self.prepare(numpy.zeros((8, 8), numpy.uint8), 8)[0]()
        except (self.cupy.cuda.runtime.CUDARuntimeError, ValueError) as error:
            raise Missing(f"{self.name}: {error}") from None

    def settings(self):
        return {"backend": "cuda", "features": self.features, "labels": self.labels}

    def engine_us(self):
        return self.stages_us()

    def move(self, image):
        return self.cupy.asarray(image)

    def fetch(self, labels):
        return self.cupy.asnumpy(self.cupy.asarray(labels))


class OnGpuRecordsOnly(OnGpu):
    name = "cudaccl, no labels"
    task = "records"
    labels = False

    def fetch(self, labels):
        return None


class CuCim(Method):
    name = "cucim"
    library = "cucim"
    task = "records"

    def __init__(self):
        self.cupy = need("cupy", "CuPy")
        self.measure = need("cucim.skimage.measure", "cuCIM")
        self.version = need("cucim", "cuCIM").__version__

    def prepare(self, image, connectivity):
        array = self.cupy.asarray(image) > 0

        def work():
            labels = self.measure.label(array, connectivity=connectivity // 4)
            table = self.measure.regionprops_table(labels, properties=("label", "area", "bbox", "centroid"))
            self.cupy.cuda.get_current_stream().synchronize()
            return labels, table

        return work, lambda: self.cupy.asnumpy(work()[0])


class CvCuda(Method):
    """4-connected only, area and box, no centroid; statistics of at most as many components as there is room."""

    name = "cvcuda"
    library = "cvcuda"
    task = "records"

    def __init__(self):
        self.cupy = need("cupy", "CuPy")
        self.cvcuda = need("cvcuda", "CV-CUDA")
        self.version = self.cvcuda.__version__

    def prepare(self, image, connectivity):
        if connectivity != 4:
            return None
        cvcuda, cupy = self.cvcuda, self.cupy
        pixels = cvcuda.as_tensor(cupy.asarray(image), layout="HW")
        background = cvcuda.as_tensor(cupy.zeros(1, cupy.uint8), layout="N")
        cupy.cuda.Device().synchronize()

        def work():
            found = cvcuda.label(
                src=pixels, connectivity=cvcuda.CONNECTIVITY_4_2D, assign_labels=cvcuda.LABEL.SEQUENTIAL, count=True,
                stats=True, max_labels=1 << 16, bg_label=background)
            cupy.cuda.Device().synchronize()
            return found

        return work, lambda: cupy.asnumpy(cupy.asarray(work()[0].cuda())).reshape(image.shape)


CPU_METHODS = [OwnRecords, OwnLabels, OwnAll, OwnFunction, OpenCvRecords, OpenCvLabels, Cc3dRecords, Cc3dLabels]
GPU_METHODS = [OnGpu, OnGpuRecordsOnly, CuCim, CvCuda]
